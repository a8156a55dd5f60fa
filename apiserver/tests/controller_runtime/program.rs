//! The embedded server as a program of its own, which ends with the test.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The running program.
pub(crate) struct Program {
    child: Child,
    folder: PathBuf,
    kubeconfig: PathBuf,
}

impl Program {
    /// Starts it, and waits until it listens.
    pub(crate) fn start(test: &str) -> Self {
        let folder = super::folder(test);
        let kubeconfig = folder.join("kubeconfig");
        let mut command = Command::new(env!("CARGO_BIN_EXE_operetta-apiserver"));
        command.arg("--kubeconfig").arg(&kubeconfig).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..2 {
            output.read_line(&mut String::new()).unwrap();
        }
        Self { child, folder, kubeconfig }
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The way to it.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
