//! One program of the control plane as a child process.
//!
//! The child ends when its standard input closes, so it cannot outlive this process.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Error;
use crate::home::Home;

/// Read by `internal/parent` of the Go module.
const EXIT_WHEN_STDIN_CLOSES: &str = "OPERETTA_EXIT_WHEN_STDIN_CLOSES";
const REMOVE_WHEN_STDIN_CLOSES: &str = "OPERETTA_REMOVE_WHEN_STDIN_CLOSES";
const LINES_IN_ERRORS: usize = 12;

#[derive(Debug)]
pub(crate) struct Process {
    program: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts the program; its output is appended to `<program>.log` in the home.
    pub(crate) fn start(
        program: &'static str,
        binary: &Path,
        flags: &[String],
        home: &Home,
    ) -> Result<Self, Error> {
        let log = home.join(&format!("{program}.log"));
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&log)
            .map_err(Error::io("opening", &log))?;
        let errors = file.try_clone().map_err(Error::io("opening", &log))?;
        let child = Command::new(binary)
            .args(flags)
            .current_dir(home.path())
            .env(EXIT_WHEN_STDIN_CLOSES, "1")
            .env(REMOVE_WHEN_STDIN_CLOSES, home.path())
            .stdin(Stdio::piped())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(Error::io("starting", binary))?;
        Ok(Self { program, child, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// An error once the program has ended by itself.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        let ended =
            self.child.try_wait().map_err(Error::io("waiting for", Path::new(self.program)));
        match ended? {
            None => Ok(()),
            Some(status) => Err(Error::Exited { program: self.program, status, log: self.tail() }),
        }
    }

    /// The last lines of the log.
    pub(crate) fn tail(&self) -> String {
        std::fs::read(&self.log).map(|log| last_lines(&log)).unwrap_or_default()
    }

    /// Kills the program: a graceful stop of kube-apiserver waits a minute for open watches.
    pub(crate) fn stop(&mut self) {
        // Both fail only if the child has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_IN_ERRORS)..].join("\n")
}
