//! The program as a child process with a data directory, and the directory itself.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

/// A directory of one test, which is removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("persistence-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The running program.
pub(crate) struct Program(Child);

impl Program {
    /// Starts it, and waits until it listens.
    pub(crate) fn start(data: &Path) -> Self {
        let mut child = command(data).stdout(Stdio::piped()).spawn().expect("it starts");
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

/// Runs the program where it refuses to start.
pub(crate) fn refused(data: &Path) -> String {
    let Output { status, stderr, .. } = command(data).output().expect("it starts");
    assert!(!status.success(), "it is refused");
    String::from_utf8(stderr).expect("the error is text")
}

fn command(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_operetta-apiserver"));
    command.arg("--data").arg(data);
    command
}

/// A client of its own connection, with the kubeconfig in the data directory.
pub(crate) async fn client(data: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(data.join("kubeconfig")).expect("it is a kubeconfig");
    let options = KubeConfigOptions::default();
    let config =
        Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("it is complete");
    Client::try_from(config).expect("it is usable")
}
