//! From flags and environment to what the process does: a pure decision.

use std::{net::SocketAddr, path::PathBuf};

use crate::cli::{ClusterChoice, RunArgs};

/// What the process does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The cluster to run on.
    pub(crate) target: Target,
    /// Whether to install the resource definitions first.
    pub(crate) install_crds: bool,
    /// Where to serve health, metrics and state.
    pub(crate) listen: SocketAddr,
}

/// A cluster to run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A server in this process.
    Embedded {
        /// Its address.
        listen: SocketAddr,
        /// Where its kubeconfig goes.
        kubeconfig_out: PathBuf,
    },
    /// The cluster around this process.
    InCluster,
    /// The cluster of a kubeconfig.
    Kubeconfig {
        /// The file, if not the usual one.
        file: Option<PathBuf>,
        /// The context, if not the current one.
        context: Option<String>,
    },
}

/// Flags that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// A flag of another kind of cluster: ignoring it could reach the wrong cluster.
    #[error("{flag} needs --cluster {needs}, but this would run on {runs}")]
    OtherCluster { flag: &'static str, needs: &'static str, runs: &'static str },
    /// The web endpoint shows the state of the cluster to whoever reaches it.
    #[error(
        "--listen {0} can be reached from other machines and has no login yet; \
         use a loopback address such as 127.0.0.1:8080, or add --insecure-listen"
    )]
    OpenListen(SocketAddr),
}

impl Settings {
    /// Decides, given whether the process runs inside of a cluster.
    pub(crate) fn resolve(args: RunArgs, inside_a_cluster: bool) -> Result<Self, UsageError> {
        let outside = [ClusterChoice::Embedded, ClusterChoice::InCluster];
        let choice = args.cluster.unwrap_or(outside[usize::from(inside_a_cluster)]);
        refuse_flags_of_others(&args, choice)?;
        if !args.listen.ip().is_loopback() && !args.insecure_listen {
            return Err(UsageError::OpenListen(args.listen));
        }
        let is_embedded = choice == ClusterChoice::Embedded;
        let (install_crds, listen) = (args.install_crds || is_embedded, args.listen);
        Ok(Self { target: target(args, choice), install_crds, listen })
    }
}

fn target(args: RunArgs, choice: ClusterChoice) -> Target {
    match choice {
        ClusterChoice::Embedded => Target::Embedded {
            listen: args.embedded_listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))),
            kubeconfig_out: args
                .kubeconfig_out
                .unwrap_or_else(|| PathBuf::from("target/operetta/kubeconfig")),
        },
        ClusterChoice::InCluster => Target::InCluster,
        ClusterChoice::Kubeconfig => {
            Target::Kubeconfig { file: args.kubeconfig, context: args.context }
        }
    }
}

fn refuse_flags_of_others(args: &RunArgs, choice: ClusterChoice) -> Result<(), UsageError> {
    let of_kubeconfig = ClusterChoice::Kubeconfig;
    let of_embedded = ClusterChoice::Embedded;
    for (is_given, flag, owner) in [
        (args.kubeconfig.is_some(), "--kubeconfig", of_kubeconfig),
        (args.context.is_some(), "--context", of_kubeconfig),
        (args.embedded_listen.is_some(), "--embedded-listen", of_embedded),
        (args.kubeconfig_out.is_some(), "--kubeconfig-out", of_embedded),
    ] {
        if is_given && owner != choice {
            let (needs, runs) = (name(owner), name(choice));
            return Err(UsageError::OtherCluster { flag, needs, runs });
        }
    }
    Ok(())
}

fn name(choice: ClusterChoice) -> &'static str {
    match choice {
        ClusterChoice::Embedded => "embedded",
        ClusterChoice::InCluster => "in-cluster",
        ClusterChoice::Kubeconfig => "kubeconfig",
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    fn args(flags: &str) -> RunArgs {
        let words = std::iter::once("operators").chain(flags.split_whitespace());
        Cli::try_parse_from(words).unwrap().run
    }

    fn resolve(flags: &str, inside_a_cluster: bool) -> Result<Settings, UsageError> {
        Settings::resolve(args(flags), inside_a_cluster)
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_flags_the_cluster_around_is_used_else_an_embedded_server() {
        let outside = resolve("", false).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let kubeconfig_out = PathBuf::from("target/operetta/kubeconfig");
        assert_eq!(outside.target, Target::Embedded { listen, kubeconfig_out });
        assert_eq!(resolve("", true).unwrap().target, Target::InCluster);
    }

    #[test]
    fn a_kubeconfig_is_used_only_when_it_is_asked_for() {
        let kubeconfig = |file: Option<&str>, context: Option<&str>| Target::Kubeconfig {
            file: file.map(PathBuf::from),
            context: context.map(str::to_owned),
        };
        let target = |flags| resolve(flags, false).unwrap().target;
        assert_eq!(target("--cluster kubeconfig"), kubeconfig(None, None));
        assert_eq!(
            target("--cluster kubeconfig --kubeconfig f --context c"),
            kubeconfig(Some("f"), Some("c"))
        );
    }

    #[test]
    fn a_flag_of_another_cluster_is_refused_by_name() {
        for (flags, flag, needs) in [
            ("--kubeconfig f", "--kubeconfig", "--cluster kubeconfig"),
            ("--context c", "--context", "--cluster kubeconfig"),
            ("--cluster in-cluster --kubeconfig-out f", "--kubeconfig-out", "--cluster embedded"),
            (
                "--cluster kubeconfig --embedded-listen 127.0.0.1:1",
                "--embedded-listen",
                "--cluster embedded",
            ),
        ] {
            let error = resolve(flags, false).unwrap_err().to_string();
            assert!(error.starts_with(flag) && error.contains(needs), "{error}");
        }
    }

    #[test]
    fn definitions_are_installed_on_a_real_cluster_only_when_asked() {
        assert!(resolve("", false).unwrap().install_crds);
        assert!(!resolve("--cluster kubeconfig", false).unwrap().install_crds);
        assert!(!resolve("", true).unwrap().install_crds);
        assert!(resolve("--install-crds", true).unwrap().install_crds);
    }

    #[test]
    fn listening_beyond_loopback_needs_a_word_of_consent() {
        for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"] {
            let error = resolve(&format!("--listen {address}"), false).unwrap_err();
            assert_eq!(error, UsageError::OpenListen(address.parse().unwrap()));
            assert!(resolve(&format!("--listen {address} --insecure-listen"), false).is_ok());
        }
        assert!(resolve("--listen [::1]:9090", false).is_ok());
    }
}
