//! A process, mostly of this program, that performs a part of a measurement. It reads commands and writes responses,
//! one a line. It ends with its input or with its parent process.

use std::process::Stdio;

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// A process that executes commands.
pub(crate) struct Helper {
    child: Child,
    commands: ChildStdin,
    responses: Lines<BufReader<ChildStdout>>,
}

impl Helper {
    /// Starts it, and returns when it is ready: with its first line.
    pub(crate) async fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let commands = child.stdin.take().context("stdin is piped")?;
        let responses = child.stdout.take().context("stdout is piped")?;
        let mut helper = Self { child, commands, responses: BufReader::new(responses).lines() };
        helper.response().await?;
        Ok(helper)
    }

    pub(crate) async fn send(&mut self, line: &str) -> Result<()> {
        Ok(self.commands.write_all(format!("{line}\n").as_bytes()).await?)
    }

    pub(crate) async fn response(&mut self) -> Result<String> {
        self.responses.next_line().await?.context("the helper process has ended")
    }

    pub(crate) fn id(&self) -> Result<u32> {
        self.child.id().context("the process runs")
    }

    pub(crate) async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Ends its input, and waits for it.
    pub(crate) async fn stop(self) -> Result<()> {
        let Self { mut child, commands, .. } = self;
        drop(commands);
        child.wait().await?;
        Ok(())
    }
}
