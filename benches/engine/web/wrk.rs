//! Many clients at once: `wrk`, which ends by itself.

use std::{io, net::SocketAddr, process::Stdio, time::Duration};

use anyhow::{Context, Result};
use tokio::process::{Child, Command};

pub(super) const CONNECTIONS: usize = 64;

/// A running load.
pub(super) struct Wrk(Child);

/// The results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answers {
    pub(super) p99: Duration,
    pub(super) per_second: f64,
    pub(super) refused: usize,
}

impl Wrk {
    /// Starts requests of a path; `None` when there is no `wrk`.
    pub(super) fn start(web: SocketAddr, path: &str, seconds: u64) -> Result<Option<Self>> {
        let (connections, duration) = (format!("-c{CONNECTIONS}"), format!("-d{seconds}s"));
        let found = Command::new("wrk").arg("-v").stdout(Stdio::null()).spawn();
        if found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let child = Command::new("nice")
            .args(["-n19", "wrk", "-t1", &connections, &duration, "--latency"])
            .arg(format!("http://{web}{path}"))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Some(Self(child)))
    }

    /// Waits until it is over.
    pub(super) async fn end(self) -> Result<Answers> {
        let output = self.0.wait_with_output().await?;
        parse(&String::from_utf8(output.stdout)?)
    }
}

fn parse(report: &str) -> Result<Answers> {
    let after = |name: &str| {
        let line = report.lines().find_map(|line| line.trim().strip_prefix(name));
        line.map(|rest| rest.trim_start_matches(':').trim().to_owned())
    };
    let refused = after("Non-2xx or 3xx responses").map_or(Ok(0), |count| count.parse())?;
    Ok(Answers {
        p99: duration(&after("99%").with_context(|| format!("no latencies in:\n{report}"))?)?,
        per_second: after("Requests/sec").context("a rate")?.parse()?,
        refused,
    })
}

/// `1.23ms`, `45.60us`, `1.02s`.
fn duration(text: &str) -> Result<Duration> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: f64 = digits.parse()?;
    let unit = match &text[digits.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        other => anyhow::bail!("an unknown unit: {other}"),
    };
    Ok(Duration::from_secs_f64(number * unit))
}
