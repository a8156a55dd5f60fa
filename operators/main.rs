//! The one binary of this repository: it runs the operators, prints their manifests, or asks a running process.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::FromArgMatches;
use operators::{Operator, flag};

use crate::{
    ask::Verb,
    cli::{Chosen, Cli, Command, RbacArgs},
};

mod address;
mod ask;
mod cli;
mod connect;
mod documents;
mod endpoint;
mod failure;
mod flags;
mod ignored;
mod manifest_files;
mod near;
mod only;
mod plan;
mod ready;
mod replaced;
mod run;
mod settings;
mod telemetry;
mod traces;

fn main() -> ExitCode {
    let matches = flags::command().try_get_matches();
    let matches = matches.and_then(|matches| ignored::refuse(&matches).map(|()| matches));
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(usage) => return of_usage(&usage),
    };
    match execute(cli) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", failure::one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// The help, or what is wrong with the flags. Not with clap's exit code 2, which is that of `plan` with changes.
fn of_usage(usage: &clap::Error) -> ExitCode {
    // Nobody may be left to read it.
    let _ = usage.print();
    if usage.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// `operators explain ... | head` has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    let operators = operators::all();
    match cli.command {
        None => run::run(cli.run, operators)?,
        Some(Command::Run(args)) => run::run(*args, operators)?,
        Some(Command::Crds(args)) => {
            let operators = only::only(operators, &args.only)?;
            let flags: Vec<_> = flag("only", &args.only).into_iter().collect();
            print(&operators::crds::yaml(&operators, &flags)?)?;
        }
        Some(Command::Rbac(args)) => print(&rbac(args, operators)?)?,
        Some(Command::Manifests(args)) => manifest_files::write(args, operators)?,
        Some(Command::Plan(args)) => return plan::plan(args, operators),
        Some(Command::Status(args)) => ask::status(args)?,
        Some(Command::Explain(args)) => ask::explain(args)?,
        Some(Command::Pause(args)) => ask::command(Verb::Pause, args)?,
        Some(Command::Resume(args)) => ask::command(Verb::Resume, args)?,
        Some(Command::Sync(args)) => ask::command(Verb::Sync, args)?,
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut flags::command(), "operators", &mut io::stdout());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn rbac(args: RbacArgs, operators: Vec<Operator>) -> anyhow::Result<String> {
    let RbacArgs { chosen: Chosen { only }, namespaces } = args;
    let operators = only::within(operators, &only, &namespaces)?;
    let flags = [flag("only", &only), flag("namespaces", &namespaces)];
    Ok(operators::rbac::yaml(&operators, &flags.into_iter().flatten().collect::<Vec<_>>())?)
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}
