//! The flags of the commands that ask a running process.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};

use super::parent::ParentName;
use crate::cli::address::{Address, AddressParser};

/// Which process to ask, and how to reach it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The running process")]
pub(crate) struct ServerArgs {
    /// The address of the process, as it prints it when it is ready.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080", value_parser = AddressParser)]
    pub(crate) server: Address,
    /// The file with the bearer token to send. Without it the token in the variable `OPERETTA_TOKEN` is sent, if that is
    /// set. No flag takes the token itself, because other users can read the command line of a process.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// With https: the file with the certificate authorities to trust, in PEM [default: those of this machine].
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// With https: do not verify the certificate of the process. Anyone on the way can then read the token.
    #[arg(long, conflicts_with = "ca_file")]
    pub(crate) insecure_skip_tls_verify: bool,
    /// Reach the process through the API server of a kubeconfig, as `kubectl port-forward` does: the Pod, or a ready Pod of
    /// the Deployment, of this name. --server then has the scheme, the name in the certificate, and the port of the Pod.
    #[arg(long, value_name = "NAMESPACE/POD-OR-DEPLOYMENT")]
    pub(crate) port_forward: Option<Target>,
    /// With --port-forward: the kubeconfig [default: $KUBECONFIG, else ~/.kube/config].
    // Refused without it on the command line alone: their variables may be set for another command.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// With --port-forward: the context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// What `status` shows.
#[derive(Debug, Clone, Args)]
pub(crate) struct StatusArgs {
    /// Show the parents of this operator [default: all operators].
    #[arg(value_name = "OPERATOR")]
    pub(crate) operator: Option<String>,
    /// Show this parent alone.
    #[arg(value_name = "NAMESPACE/NAME", requires = "operator")]
    pub(crate) parent: Option<ParentName>,
    /// Only the parents in this namespace.
    #[arg(long, short, value_name = "NAME", requires = "operator", conflicts_with = "parent")]
    pub(crate) namespace: Option<String>,
    /// Only the parents in these phases: pending, running, ready, synced, waiting, failing, stalled, finalizing, paused.
    #[arg(long, value_name = "PHASE,...", requires = "operator", conflicts_with = "parent")]
    pub(crate) phase: Option<String>,
    /// How to print the answer.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// What `explain` shows.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// The operator of the parent.
    #[arg(value_name = "OPERATOR")]
    pub(crate) operator: String,
    /// The parent; the name alone if it is cluster-scoped.
    #[arg(value_name = "NAMESPACE/NAME")]
    pub(crate) parent: ParentName,
    /// Also show what a reconcile would change. The handler is called for it, and nothing is written.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Also show the Events about the parent and its children.
    #[arg(long)]
    pub(crate) events: bool,
    /// How to print the answer.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// What `resume` and `sync` apply to, and `pause`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CommandArgs {
    /// The operator.
    #[arg(value_name = "OPERATOR")]
    pub(crate) operator: String,
    /// One of its parents; the name alone if it is cluster-scoped [default: all of them].
    #[arg(value_name = "NAMESPACE/NAME")]
    pub(crate) parent: Option<ParentName>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// What `pause` applies to, and what it says.
#[derive(Debug, Clone, Args)]
pub(crate) struct PauseArgs {
    /// The operator.
    #[arg(value_name = "OPERATOR")]
    pub(crate) operator: String,
    /// One of its parents; the name alone if it is cluster-scoped [default: all of them].
    #[arg(value_name = "NAMESPACE/NAME")]
    pub(crate) parent: Option<ParentName>,
    /// Why, for whoever finds it paused.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// End the pause after this time, as 2h and 1d are [default: when it is resumed].
    #[arg(long = "for", value_name = "TIME", conflicts_with = "until")]
    pub(crate) lasting: Option<String>,
    /// End the pause at this time, as 2026-12-01T10:00:00Z is.
    #[arg(long, value_name = "RFC3339")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Which held deletions to allow.
#[derive(Debug, Clone, Args)]
pub(crate) struct AllowArgs {
    /// The operator.
    #[arg(value_name = "OPERATOR")]
    pub(crate) operator: String,
    /// The parent whose deletions are held; the name alone if it is cluster-scoped.
    #[arg(value_name = "NAMESPACE/NAME")]
    pub(crate) parent: ParentName,
    /// The code of these deletions, as `explain` shows it. Others need another code.
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// How to print an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Tables, with messages cut to fit.
    Table,
    /// Tables with more columns and whole messages.
    Wide,
    /// JSON; of a process that of its HTTP API.
    Json,
    /// The same as YAML.
    Yaml,
}

/// The Pod or Deployment of `--port-forward`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').filter(|(namespace, name)| {
            !namespace.is_empty() && !name.is_empty() && !name.contains('/')
        });
        let (namespace, name) = parts.ok_or("write it as NAMESPACE/NAME")?;
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_of_a_port_forward_needs_a_namespace_and_a_name() {
        let target = Target { namespace: "ns".to_owned(), name: "pod".to_owned() };
        assert_eq!("ns/pod".parse(), Ok(target));
        for bad in ["pod", "/pod", "ns/", "ns/deployment/a"] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
    }
}
