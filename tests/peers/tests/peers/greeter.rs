//! A program as a process that ends with the test.

use std::{
    fs::{File, read_to_string},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
};

/// How a program is started.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    command: Vec<String>,
    variables: Vec<(String, PathBuf)>,
}

impl Program {
    /// An executable file without arguments.
    pub(crate) fn new(file: &str) -> Self {
        Self { command: vec![file.to_owned()], variables: Vec::new() }
    }

    /// One more argument.
    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.command.push(argument.to_owned());
        self
    }

    /// One more variable of its environment.
    pub(crate) fn variable(mut self, name: &str, value: &Path) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it for the cluster of a kubeconfig. What it prints goes to a file in the folder.
    pub(crate) fn start(&self, kubeconfig: &Path, folder: &Path) -> Greeter {
        let log = folder.join("log");
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(folder);
        command.env("KUBECONFIG", kubeconfig).env("HOME", folder);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let process =
            command.spawn().unwrap_or_else(|error| panic!("{}: {error}", self.command[0]));
        Greeter { process, log }
    }
}

/// A running program. When it is dropped by a test that fails, it prints the end of its log.
#[derive(Debug)]
pub(crate) struct Greeter {
    process: Child,
    log: PathBuf,
}

impl Drop for Greeter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if thread::panicking() {
            let log = read_to_string(&self.log).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            let end = &lines[lines.len().saturating_sub(60)..];
            eprintln!("{}:\n{}", self.log.display(), end.join("\n"));
        }
    }
}
