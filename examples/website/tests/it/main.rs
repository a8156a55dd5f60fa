//! The walkthrough: its pages are played, and its chart is installed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::duplicate_mod, reason = "each program is whole, as its reader has it")]

use std::process::ExitCode;

mod chapters;
#[path = "../../../../operators/tests/it/cluster.rs"]
mod cluster;
mod pages;
mod service_account;

fn main() -> ExitCode {
    chapters::run_by_name().unwrap_or_else(operetta_harness::main)
}
