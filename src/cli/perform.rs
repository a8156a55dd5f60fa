//! Performs the commands of a program.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::FromArgMatches;

use super::{
    ask::{self, Verb},
    command_line::{Chosen, Cli, Command, CrdsArgs, RbacArgs},
    crd_check::check,
    crds::{self, Types},
    failure, flags, header, ignored, manifest_files, migrate, only, orphans, plan,
    program::Program,
    rbac, run,
};

impl Program {
    /// Parses the command line of the process and performs the command. Returns the exit code.
    pub fn run(self) -> ExitCode {
        self.run_with(std::env::args_os())
    }

    fn run_with(self, words: impl IntoIterator<Item = OsString>) -> ExitCode {
        let matches = flags::command(&self).try_get_matches_from(words);
        let matches = matches.and_then(|matches| ignored::refuse(&matches).map(|()| matches));
        let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => cli,
            Err(usage) => return of_usage(&usage),
        };
        match self.execute(cli) {
            Ok(code) => code,
            Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {}", failure::one_line(&error));
                ExitCode::FAILURE
            }
        }
    }

    fn execute(self, cli: Cli) -> anyhow::Result<ExitCode> {
        match cli.command {
            None => run::run(cli.run, self)?,
            Some(Command::Run(args)) => run::run(*args, self)?,
            Some(Command::Crds(args)) => return self.crds(args),
            Some(Command::Rbac(args)) => print(&self.rbac(args)?)?,
            Some(Command::Manifests(args)) => manifest_files::write(args, self)?,
            Some(Command::Plan(args)) => return plan::plan(args, self),
            Some(Command::Orphans(args)) => orphans::orphans(args, self)?,
            Some(Command::Migrate(args)) => return migrate::migrate(args, self),
            Some(Command::Status(args)) => ask::status(args)?,
            Some(Command::Explain(args)) => ask::explain(args)?,
            Some(Command::Pause(args)) => ask::pause(args)?,
            Some(Command::AllowDeletions(args)) => ask::allow_deletions(args)?,
            Some(Command::Resume(args)) => ask::command(Verb::Resume, args)?,
            Some(Command::Sync(args)) => ask::command(Verb::Sync, args)?,
            Some(Command::Completions { shell }) => {
                let mut command = flags::command(&self);
                let name = command.get_name().to_owned();
                clap_complete::generate(shell, &mut command, name, &mut io::stdout());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn crds(mut self, args: CrdsArgs) -> anyhow::Result<ExitCode> {
        let CrdsArgs { chosen: Chosen { only: names }, check: committed, output } = args;
        let (types, operators) = Types::chosen(&mut self.supervisor, &names)?;
        let service = (&*self.deployed.namespace, &*self.deployed.name);
        let crds = types.crds(&operators, service)?;
        if let Some(committed) = committed {
            return check(&committed, output, &crds, &names);
        }
        let flags: Vec<_> = header::flag("only", &names).into_iter().collect();
        print(&crds::yaml(&crds, &flags)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn rbac(mut self, args: RbacArgs) -> anyhow::Result<String> {
        let RbacArgs { chosen: Chosen { only }, namespaces, sharded } = args;
        let (types, operators) = Types::chosen(&mut self.supervisor, &only)?;
        let operators = only::within(operators, &only, &namespaces)?;
        let types = if namespaces.is_empty() { types } else { types.within_namespaces() };
        let permissions = match &sharded {
            Some(group) => rbac::sharded(&operators, group)?,
            None => rbac::permissions(&operators)?,
        };
        let sharded = sharded.as_slice();
        let flags = [("only", &*only), ("namespaces", &*namespaces), ("sharded", sharded)];
        let flags: Vec<_> = flags.iter().filter_map(|(name, it)| header::flag(name, it)).collect();
        Ok(rbac::yaml(&self.deployed, &types.permit(permissions), &flags)?)
    }
}

/// The help, or what is wrong with the flags. Not with clap's exit code 2, which is that of `plan` with changes and of
/// `crds --check`.
fn of_usage(usage: &clap::Error) -> ExitCode {
    // Nobody may be left to read it.
    let _ = usage.print();
    if usage.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// `program explain ... | head` has read enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}
