//! Logs: compact lines on standard error.

use std::io::{self, IsTerminal};

use anyhow::Context;
use tracing_subscriber::{EnvFilter, fmt};

/// Starts logging for the whole process.
pub(crate) fn start(log_level: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(log_level).context("--log-level (or RUST_LOG)")?;
    fmt()
        .compact()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .try_init()
        .map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}
