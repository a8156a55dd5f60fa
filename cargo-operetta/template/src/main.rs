//! The program: `--help` lists its commands.

use std::process::ExitCode;

use operetta::prelude::*;
use scaffold_operator::{config, sync};

fn main() -> ExitCode {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    operetta::cli::run(Supervisor::builder().program(name, version).register(config(), sync))
}
