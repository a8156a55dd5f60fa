//! One shell in which the commands of a page run, and the servers that it starts.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// How long a command may take, and a server until it has printed what is expected.
const DEADLINE: Duration = Duration::from_secs(90);
/// How long the shell and its servers may take to end.
const END_WITHIN: Duration = Duration::from_secs(10);
/// How often the output of a server is read again.
const INTERVAL: Duration = Duration::from_millis(20);

/// Servers get signals as in a terminal, and end with the shell.
const PREAMBLE: &str = "exec 2>&1; set -m; trap 'kill $(jobs -p) 2>/dev/null' EXIT\n";

/// A running shell; dropping it ends it and what it has started.
#[derive(Debug)]
pub struct Shell {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    folder: PathBuf,
    commands: u32,
}

impl Shell {
    pub(crate) fn start(mut bash: Command, folder: &Path) -> io::Result<Self> {
        bash.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = bash.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(stdout?).lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line)).ok()
        });
        let folder = folder.to_owned();
        let mut shell = Self { child, stdin, lines, folder, commands: 0 };
        shell.send(PREAMBLE)?;
        Ok(shell)
    }

    /// Saves a file as the reader would.
    pub fn save(&self, name: &str, content: &str) -> io::Result<()> {
        let file = self.folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        fs::write(file, content)
    }

    /// Runs a command and returns what it prints, errors included.
    ///
    /// # Errors
    /// It did not end in time, or it ended the shell.
    pub fn run(&mut self, script: &str) -> Result<String, String> {
        self.ended(script).map(|(printed, _)| printed)
    }

    /// Runs a command that must succeed.
    ///
    /// # Errors
    /// It failed, did not end in time, or ended the shell.
    pub fn succeed(&mut self, script: &str) -> Result<(), String> {
        match self.ended(script)? {
            (_, 0) => Ok(()),
            (printed, code) => Err(format!("$ {script}\n{printed}exit code {code}")),
        }
    }

    /// What a command has printed, and its exit code.
    fn ended(&mut self, script: &str) -> Result<(String, u8), String> {
        self.commands += 1;
        let end = format!("--- end of command {}: ", self.commands);
        // A command that asks for input finds none, and does not read those after it.
        let sent =
            self.send(&format!("{{\n{script}\n}} < /dev/null\nprintf '\\n%s%s\\n' '{end}' $?\n"));
        sent.map_err(|error| format!("$ {script}\nthe shell has ended: {error}"))?;
        let ended = self.until(&end).map_err(|error| format!("$ {script}\n{error}"));
        let (lines, code) = ended?;
        // The last line is from the mark at the end.
        let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
        let printed = lines.join("\n");
        Ok((printed, code.parse().unwrap_or(u8::MAX)))
    }

    /// Starts a command that keeps running, waits until what it has printed is complete, and returns that.
    ///
    /// # Errors
    /// The shell has ended.
    pub fn serve(
        &mut self,
        script: &str,
        is_complete: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let output = self.folder.with_file_name(format!("server-{}", self.commands));
        self.run(&format!("{script} > '{}' 2>&1 &", output.display()))?;
        let begun = Instant::now();
        loop {
            let printed = fs::read_to_string(&output).unwrap_or_default();
            let printed = whole_lines(&printed).to_owned();
            if is_complete(&printed) || begun.elapsed() > DEADLINE {
                return Ok(printed);
            }
            thread::sleep(INTERVAL);
        }
    }

    /// Stops the latest server as Ctrl-C does, and waits until it has ended.
    ///
    /// # Errors
    /// It does not end: the text has its threads, where they wait, and the signals that they ignore.
    pub fn stop(&mut self) -> Result<(), String> {
        let stopped = self.run("kill -INT %%; wait %%").map(drop);
        stopped.map_err(|error| format!("{error}\n{}", self.servers()))
    }

    /// What the shell has started and still runs.
    fn servers(&self) -> String {
        let columns = "pid,tid,stat,wchan:24,pending,ignored,caught,args";
        let of_shell = ["-L", "-o", columns, "--ppid", &self.child.id().to_string()];
        let listed = Command::new("ps").args(of_shell).output();
        listed
            .map_or_else(|error| error.to_string(), |it| String::from_utf8_lossy(&it.stdout).into())
    }

    fn send(&mut self, script: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(script.as_bytes())?;
        stdin.flush()
    }

    /// The lines before the one that begins like this, and how that continues.
    fn until(&self, end: &str) -> Result<(Vec<String>, String), String> {
        let deadline = Instant::now() + DEADLINE;
        let mut lines = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => match line.strip_prefix(end) {
                    Some(rest) => return Ok((lines, rest.to_owned())),
                    None => lines.push(line),
                },
                Err(error) => return Err(format!("{}\n{}", lines.join("\n"), reason(error))),
            }
        }
    }
}

fn reason(error: RecvTimeoutError) -> String {
    match error {
        RecvTimeoutError::Timeout => format!("the command has not ended within {DEADLINE:?}"),
        RecvTimeoutError::Disconnected => "the command has ended the shell".to_owned(),
    }
}

/// Without the last line while it is being written.
fn whole_lines(printed: &str) -> &str {
    printed.rfind('\n').map_or("", |end| &printed[..=end])
}

impl Drop for Shell {
    fn drop(&mut self) {
        // At the end of its input it ends its servers, and then itself.
        drop(self.stdin.take());
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < END_WITHIN {
            thread::sleep(INTERVAL);
        }
        // It waits for a command that does not end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
