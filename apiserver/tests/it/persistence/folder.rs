//! A data directory, and the program that uses it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::common::program::{Program, command};

const OPTION: &str = "--data";

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

    /// Starts the program with it, and waits until it listens.
    pub(crate) fn program(&self) -> Program {
        Program::start(OPTION, self.path())
    }

    /// Runs the program where it refuses to start.
    pub(crate) fn refusal(&self) -> String {
        let output = command(OPTION, self.path()).output().expect("it starts");
        let Output { status, stderr, .. } = output;
        assert!(!status.success(), "it is refused");
        String::from_utf8(stderr).expect("the error is text")
    }

    /// A client of its own connection, with the kubeconfig in it.
    pub(crate) async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.path().join("kubeconfig"));
        let kubeconfig = kubeconfig.expect("it is a kubeconfig");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        Client::try_from(config.expect("it is complete")).expect("it is usable")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
