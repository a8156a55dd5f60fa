//! The binary `operators`: as a process, with kubectl and helm, and as the documents show it.
//!
//! `OPERETTA_TEST_CLUSTER=embedded|controlplane[:VERSION]` chooses the API server; the default is `embedded`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::ExitCode;

mod applied;
mod book;
mod chart;
mod chart_values;
mod cluster;
mod definitions;
mod deployed;
mod helm;
mod kubectl;
mod manifests;
mod mask;
mod postgres;
mod process;
mod program;
mod published;
mod transcript;

fn main() -> ExitCode {
    operetta_harness::main()
}
