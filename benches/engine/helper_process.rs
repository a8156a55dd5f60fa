//! A process of this program that does a part of a measurement: it is told in lines, and answers in
//! lines. It ends when its input does, or with whoever started it.

use std::process::Stdio;

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// A process that is told what to do.
pub(crate) struct Helper {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Helper {
    /// Starts this program with other arguments, and returns when it has said that it is ready.
    pub(crate) async fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let orders = child.stdin.take().context("stdin is piped")?;
        let answers = child.stdout.take().context("stdout is piped")?;
        let mut helper = Self { child, orders, answers: BufReader::new(answers).lines() };
        helper.answer().await?;
        Ok(helper)
    }

    pub(crate) async fn order(&mut self, line: &str) -> Result<()> {
        Ok(self.orders.write_all(format!("{line}\n").as_bytes()).await?)
    }

    pub(crate) async fn answer(&mut self) -> Result<String> {
        self.answers.next_line().await?.context("the process that helps has ended")
    }

    pub(crate) fn id(&self) -> Result<u32> {
        self.child.id().context("the process runs")
    }

    /// Ends its input, and waits for it.
    pub(crate) async fn stop(self) -> Result<()> {
        let Self { mut child, orders, .. } = self;
        drop(orders);
        child.wait().await?;
        Ok(())
    }
}
