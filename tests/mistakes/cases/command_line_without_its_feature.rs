//! `cli` is used without its feature: add `features = ["cli"]` to operetta.

use operetta::prelude::*;

fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder())
}
