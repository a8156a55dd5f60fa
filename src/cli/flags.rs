//! The command line with an environment variable for every flag, and the flags as the tables of a page.

use clap::{Arg, Command, CommandFactory};

use super::{command_line::Cli, program::Program};

/// The command line. `--listen` is also `OPERETTA_LISTEN`, and so is every flag that has no variable of its own.
pub(super) fn command(program: &Program) -> Command {
    let (name, version) = program.supervisor.named().unwrap_or_default();
    let about = program.about.clone();
    let cluster = if program.prefers_embedded {
        "Without flags it uses the cluster in which it runs; outside of a cluster it starts an embedded Kubernetes API \
         server of its own. It uses a kubeconfig only with `--cluster kubeconfig`: the current context may be a production \
         cluster."
    } else {
        "Without flags it uses the cluster of $KUBECONFIG, else the one in which it runs, else that of ~/.kube/config. With \
         `--embedded` it starts a Kubernetes API server of its own."
    };
    let command = Cli::command().name(name).version(version);
    with_variables(command.long_about(format!("{about}\n\n{cluster}")).about(about))
}

fn with_variables(command: Command) -> Command {
    command.mut_args(with_variable).mut_subcommands(with_variables)
}

fn with_variable(flag: Arg) -> Arg {
    // The help describes the program, not the environment in which it is read, which may have secrets.
    let flag = flag.hide_env_values(true);
    match flag.get_long().map(variable) {
        Some(name) if flag.get_env().is_none() => flag.env(name),
        Some(_) | None => flag,
    }
}

fn variable(flag: &str) -> String {
    format!("OPERETTA_{}", flag.replace('-', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use std::{fmt::Write, fs, path::Path};

    use super::*;
    use crate::supervisor::Supervisor;

    fn command() -> Command {
        super::command(&Program::new(Supervisor::builder().program("operators", "0.1.0")))
    }

    /// Kubernetes sets such variables in every Pod beside a Service `operetta`.
    fn is_of_a_service(name: &str) -> bool {
        let port = name.strip_prefix("OPERETTA_PORT");
        let of_port = |rest: &str| rest.trim_start_matches('_').chars().next();
        name.starts_with("OPERETTA_SERVICE_")
            || port.is_some_and(|rest| of_port(rest).is_none_or(|next| next.is_ascii_digit()))
    }

    fn all(command: &Command) -> Vec<&Command> {
        let below = command.get_subcommands().flat_map(all);
        std::iter::once(command).chain(below).collect()
    }

    #[test]
    fn every_flag_has_a_variable_and_none_is_one_that_kubernetes_sets() {
        let command = command();
        for flag in all(&command).into_iter().flat_map(Command::get_arguments) {
            let Some(long) = flag.get_long() else { continue };
            let name = flag.get_env().unwrap_or_else(|| panic!("--{long} has no variable"));
            assert!(!is_of_a_service(name.to_str().unwrap()), "--{long}: {name:?}");
        }
        assert!(is_of_a_service("OPERETTA_PORT") && is_of_a_service("OPERETTA_PORT_8080_TCP"));
        assert!(!is_of_a_service("OPERETTA_PORT_FORWARD"));
    }

    /// The tables of the page, between its markers. `UPDATE_EXPECT=1` writes them.
    #[test]
    fn the_page_has_every_command_and_flag() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command-line.md");
        let page = fs::read_to_string(&file).unwrap();
        let (before, rest) = page.split_once("<!-- flags -->\n").unwrap();
        let (tables, after) = rest.split_once("<!-- end of flags -->\n").unwrap();
        let expected = tables_of(&command());
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let page = format!("{before}<!-- flags -->\n{expected}<!-- end of flags -->\n{after}");
            fs::write(file, page).unwrap();
        } else {
            assert_eq!(tables, expected, "write it with UPDATE_EXPECT=1");
        }
    }

    fn tables_of(command: &Command) -> String {
        let mut text = String::new();
        let server = |flag: &&Arg| flag.get_help_heading().is_some();
        let mut shared = String::new();
        for command in all(command).into_iter().filter(|command| command.get_name() != "run") {
            let name = match command.get_name() {
                "operators" => "`operators` and `operators run`".to_owned(),
                name => format!("`operators {name}`"),
            };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(text, "\n### {name}\n\n{}", sentence(&about)).unwrap();
            let (asking, own): (Vec<&Arg>, Vec<&Arg>) = command.get_arguments().partition(server);
            table(&mut text, &own);
            if !asking.is_empty() {
                writeln!(text, "\nAlso the flags of [the running process](#the-running-process).")
                    .unwrap();
                shared.clear();
                table(&mut shared, &asking);
            }
        }
        writeln!(text, "\n### The running process\n\nFlags of all commands that ask one.").unwrap();
        text + &shared
    }

    fn table(text: &mut String, flags: &[&Arg]) {
        if flags.is_empty() {
            return;
        }
        writeln!(text, "\n| flag | variable | default | meaning |\n|---|---|---|---|").unwrap();
        for flag in flags {
            let values = flag.get_value_names().unwrap_or_default();
            let takes = flag.get_action().takes_values();
            let value = values.first().filter(|_| takes).map(|name| format!(" {name}"));
            let value = value.unwrap_or_default();
            let name = match (flag.get_long(), flag.get_short()) {
                (Some(long), Some(short)) => format!("`-{short}`, `--{long}{value}`"),
                (Some(long), None) => format!("`--{long}{value}`"),
                (None, _) => format!("`{}`", value.trim()),
            };
            let variable = flag.get_env().map(|name| format!("`{}`", name.to_str().unwrap()));
            let defaults: Vec<_> =
                flag.get_default_values().iter().map(|it| it.to_str().unwrap()).collect();
            let default = defaults.first().filter(|_| takes).map(|it| format!("`{it}`"));
            let possible = flag.get_possible_values().into_iter().filter(|_| takes);
            let possible: Vec<_> = possible.map(|it| format!("`{}`", it.get_name())).collect();
            let possible = match possible.len() {
                0 => String::new(),
                _ => format!(" One of {}.", possible.join(", ")),
            };
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            let (variable, default) = (variable.unwrap_or_default(), default.unwrap_or_default());
            let help = sentence(&help).replace('|', "\\|");
            writeln!(text, "| {name} | {variable} | {default} | {help}{possible} |").unwrap();
        }
    }

    /// clap takes the last full stop away.
    fn sentence(text: &str) -> String {
        let text = text.trim_end_matches('.').replace('\n', " ");
        if text.is_empty() { text } else { format!("{text}.") }
    }
}
