//! The program as a child process.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The running program, which ends with the test.
pub(crate) struct Program(Child);

impl Program {
    /// Starts it with one option, and waits until it listens.
    pub(crate) fn start(option: &str, path: &Path) -> Self {
        let mut child = command(option, path).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it reports where it listens");
        output.read_line(&mut line).expect("it reports its kubeconfig");
        assert!(line.contains("export KUBECONFIG="), "{line}");
        Self(child)
    }

    /// Kills it without any warning.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program with one option.
pub(crate) fn command(option: &str, path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_operetta-apiserver"));
    command.arg(option).arg(path);
    command
}
