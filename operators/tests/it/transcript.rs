//! A file of shell commands with what they print.
//!
//! ```text
//! # A comment, kept as it is.
//! $ kubectl get pods        a command; lines that begin with `> ` continue it
//! $ kubectl get pods -w &   starts in the background; waits for the first line of a watch
//! $ fg 3                    its output after that many lines; then it is killed
//! stderr: ...               what a command printed to standard error
//! exit code 1               its exit code, if not 0
//! ```

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use crate::mask::mask;

/// How long a background command may take to print a line.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Transcript {
    /// Comments and empty lines before the first command.
    head: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// As in the file, with its markers.
    command: String,
    output: String,
    /// Comments and empty lines before the next command.
    after: String,
}

impl Transcript {
    pub(crate) fn read(text: &str) -> Self {
        let mut transcript = Self { head: String::new(), entries: Vec::new() };
        for line in text.split_inclusive('\n') {
            transcript.take(line);
        }
        transcript
    }

    fn take(&mut self, line: &str) {
        let Some(entry) = self.entries.last_mut().filter(|_| !line.starts_with("$ ")) else {
            if line.starts_with("$ ") {
                let (output, after) = (String::new(), String::new());
                self.entries.push(Entry { command: line.to_owned(), output, after });
            } else {
                self.head += line;
            }
            return;
        };
        if line.starts_with("> ") && entry.output.is_empty() {
            entry.command += line;
        } else if !entry.after.is_empty() || line.starts_with("# ") || line == "\n" {
            entry.after += line;
        } else {
            entry.output += line;
        }
    }

    /// Runs all commands and returns the resulting file.
    pub(crate) fn play(&self, shell: &dyn Fn() -> Command) -> String {
        let mut background = None;
        let mut text = self.head.clone();
        for entry in &self.entries {
            let output = entry.run(shell, &mut background);
            text += &entry.command;
            text += &tidy(&output);
            text += &entry.after;
        }
        text
    }

    /// The outputs that differ in `seen`, command by command.
    pub(crate) fn differences<'a>(&'a self, seen: &'a Self) -> impl Iterator<Item = String> + 'a {
        let pairs = self.entries.iter().zip(&seen.entries);
        pairs.filter(|(expected, seen)| expected.output != seen.output).map(|(expected, seen)| {
            let Entry { command, output, after: _ } = expected;
            format!("{command}--- expected\n{output}--- seen\n{}", seen.output)
        })
    }
}

impl Entry {
    /// The command for the shell.
    fn script(&self) -> String {
        let lines = self.command.lines().map(|line| &line[2..]);
        lines.collect::<Vec<_>>().join("\n")
    }

    fn run(&self, shell: &dyn Fn() -> Command, background: &mut Option<Background>) -> String {
        let script = self.script();
        if let Some(command) = script.strip_suffix(" &") {
            *background = Some(Background::start(shell(), command));
            return String::new();
        }
        if let Some(lines) = script.strip_prefix("fg ") {
            let lines = lines.parse().unwrap();
            return background.take().expect("a background command").lines(lines);
        }
        foreground(shell(), &script)
    }
}

fn foreground(mut shell: Command, script: &str) -> String {
    let output = shell.args(["-c", script]).stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let errors = errors.lines().map(|line| format!("stderr: {line}"));
    let failure = output.status.code().filter(|code| *code != 0);
    let failure = failure.map(|code| format!("exit code {code}"));
    joined(printed.lines().map(str::to_owned).chain(errors).chain(failure))
}

/// Masked, and without lines that would look like the next entry.
fn tidy(output: &str) -> String {
    let masked = mask(output);
    let lines = masked.lines().map(str::trim_end).filter(|line| !line.is_empty());
    joined(lines.map(str::to_owned))
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

/// A command that continues while others run; dropping this value kills it.
struct Background {
    child: Child,
    lines: Receiver<String>,
    first: Option<String>,
}

impl Background {
    /// For a watch, returns once it has printed its first line, so that it sees later changes.
    fn start(mut shell: Command, command: &str) -> Self {
        // Without `exec` the signal would reach only the shell.
        let mut child = shell
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let first = || lines.recv_timeout(DEADLINE).ok();
        let first = command.ends_with(" -w").then(first).flatten();
        Self { child, lines, first }
    }

    /// The first lines of the output.
    fn lines(self, count: usize) -> String {
        let next = || self.lines.recv_timeout(DEADLINE).ok();
        let lines = self.first.iter().cloned().chain(std::iter::from_fn(next));
        joined(lines.take(count))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines();
        // The receiver may be gone.
        let _ = lines.map_while(Result::ok).try_for_each(|line| sender.send(line));
    });
    receiver
}
