//! The one binary of this repository: it runs every operator, or prints their manifests.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::cli::{Cli, Command};

mod cli;
mod connect;
mod documents;
mod endpoint;
mod failure;
mod plan;
mod ready;
mod run;
mod settings;
mod telemetry;

fn main() -> ExitCode {
    match execute(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", failure::one_line(&error));
            ExitCode::FAILURE
        }
    }
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    let operators = operators::all();
    match cli.command {
        None => run::run(cli.run, operators)?,
        Some(Command::Crds) => print(&operators::crds::yaml(&operators)?)?,
        Some(Command::Rbac) => print(&operators::rbac::yaml(&operators)?)?,
        Some(Command::Plan(args)) => return plan::plan(args, operators),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}
