//! Refuses flags that would be ignored. Most are refused by clap; here are those that depend on the value of another
//! one, and that may be set as variables for another command.

use clap::{ArgMatches, Error, error::ErrorKind, parser::ValueSource};

use super::address::Address;

/// The commands that ask a running process.
const ASKING: [&str; 5] = ["status", "explain", "pause", "resume", "sync"];

/// Refuses what was given on the command line and has no effect.
///
/// # Errors
/// The flag, and what it needs.
pub(super) fn refuse(matches: &ArgMatches) -> Result<(), Error> {
    match matches.subcommand() {
        Some((name, matches)) if ASKING.contains(&name) => of_asking(matches),
        Some(("plan", matches)) => of_plan(matches),
        Some(("crds", matches)) => of_crds(matches),
        Some(_) | None => Ok(()),
    }
}

fn of_asking(matches: &ArgMatches) -> Result<(), Error> {
    let is_forwarded = matches.contains_id("port_forward");
    let is_plain = matches
        .get_one::<Address>("server")
        .is_some_and(|server| server.uri().scheme_str() == Some("http"));
    let asked = "without it the process at --server is asked";
    for (flag, is_ignored, why) in [
        ("kubeconfig", !is_forwarded, format!("needs --port-forward: {asked}")),
        ("context", !is_forwarded, format!("needs --port-forward: {asked}")),
        ("ca_file", is_plain, "needs a --server with https".to_owned()),
        ("insecure_skip_tls_verify", is_plain, "needs a --server with https".to_owned()),
    ] {
        if is_ignored && is_given(matches, flag) {
            return Err(refusal(flag, &why));
        }
    }
    Ok(())
}

/// As for `run`: ignoring them could plan for the wrong cluster.
fn of_plan(matches: &ArgMatches) -> Result<(), Error> {
    use super::command_line::PlanCluster::InCluster;
    let is_inside = matches.get_one("cluster") == Some(&InCluster);
    let given = ["kubeconfig", "context"].into_iter().find(|flag| matches.contains_id(flag));
    match given.filter(|_| is_inside) {
        Some(flag) => {
            Err(refusal(flag, "needs --cluster kubeconfig, but the cluster is in-cluster"))
        }
        None => Ok(()),
    }
}

fn of_crds(matches: &ArgMatches) -> Result<(), Error> {
    if is_given(matches, "output") && !matches.contains_id("check") {
        return Err(refusal("output", "needs --check: without it the CRDs are printed as YAML"));
    }
    Ok(())
}

fn is_given(matches: &ArgMatches, flag: &str) -> bool {
    matches.value_source(flag) == Some(ValueSource::CommandLine)
}

fn refusal(flag: &str, why: &str) -> Error {
    let message = format!("--{} {why}\n", flag.replace('_', "-"));
    Error::raw(ErrorKind::ArgumentConflict, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::{flags, program::Program},
        supervisor::Supervisor,
    };

    fn refused(line: &str) -> Option<String> {
        let matches = flags::command(&Program::new(Supervisor::builder()))
            .try_get_matches_from(line.split_whitespace())
            .unwrap();
        refuse(&matches).err().map(|error| error.to_string())
    }

    #[test]
    fn a_flag_that_would_be_ignored_is_refused_with_what_it_needs() {
        for (line, expected) in [
            ("operators status --kubeconfig f", "--kubeconfig needs --port-forward"),
            ("operators sync echo-server --context c", "--context needs --port-forward"),
            (
                "operators explain echo-server a/b --ca-file f",
                "--ca-file needs a --server with https",
            ),
            (
                "operators pause echo-server --insecure-skip-tls-verify",
                "--insecure-skip-tls-verify needs",
            ),
            (
                "operators plan --cluster in-cluster --kubeconfig f",
                "--kubeconfig needs --cluster kubeconfig",
            ),
            (
                "operators plan --cluster in-cluster --context c",
                "--context needs --cluster kubeconfig",
            ),
        ] {
            let refused = refused(line).unwrap_or_default();
            assert!(refused.contains(expected), "{line}: {refused}");
        }
    }

    #[test]
    fn a_flag_that_acts_is_not_refused() {
        for line in [
            "operators",
            "operators rbac",
            "operators status --port-forward a/b --kubeconfig f --context c",
            "operators status --server https://a --ca-file f",
            "operators plan --kubeconfig f --context c",
            "operators plan --cluster in-cluster",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    /// `--only` before a command is of no command.
    #[test]
    fn flags_of_run_are_refused_before_another_command() {
        for line in ["operators --only echo-server rbac", "operators --namespaces a crds"] {
            let error = flags::command(&Program::new(Supervisor::builder()))
                .try_get_matches_from(line.split_whitespace())
                .unwrap_err();
            assert!(error.to_string().contains("cannot be used with"), "{error}");
        }
    }
}
