//! The command line, parsed by clap. `settings` checks the combination of flags.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf};

use crate::web::TlsProxy;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

#[cfg(feature = "otlp")]
use super::address::{Address, AddressParser};
use super::ask::args::{AllowArgs, CommandArgs, ExplainArgs, Output, PauseArgs, StatusArgs};

/// The whole command line. Its name, version and first sentence are those of the program.
#[derive(Debug, Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    // The variables of its flags may be set for another command.
    subcommand_negates_reqs = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Run the operators. This is also what happens without a command.
    Run(Box<RunArgs>),
    /// Show the operators of a running process, the parents of an operator, or one parent.
    Status(StatusArgs),
    /// Show why a parent is in its state: conditions, children, the last reconciles.
    Explain(ExplainArgs),
    /// Write nothing for a parent, or for all parents of an operator, until it is resumed or the pause ends by itself. The
    /// pause of an operator ends with the process; that of a parent is an annotation.
    Pause(PauseArgs),
    /// End a pause.
    Resume(CommandArgs),
    /// Reconcile a parent, or all parents of an operator, now.
    Sync(CommandArgs),
    /// Allow the deletions of a parent that are held, by their code. Nothing undoes them.
    AllowDeletions(AllowArgs),
    /// Print the CRDs of the operators' resources (deploy/crds.yaml), or what changes from committed ones.
    Crds(CrdsArgs),
    /// Print the permissions that the operators need (deploy/rbac.yaml).
    Rbac(RbacArgs),
    /// Write what runs the operators in a cluster: a kustomize base with overlays, or a Helm chart.
    Manifests(ManifestsArgs),
    /// Print what the operators would do on a cluster, and write nothing. Exits with 0 if nothing would be changed,
    /// with 2 if something would, with 1 on an error.
    Plan(PlanArgs),
    /// Print the children of types that their operator does not declare any more, and the commands that delete them.
    Orphans(OrphansArgs),
    /// Write the objects of a type again that may be stored in an old version of it, and remove the version from
    /// `status.storedVersions` of the CRD. Exits with 1 if an object cannot be written.
    Migrate(MigrateArgs),
    /// Print the completions for a shell. For bash: source <(PROGRAM completions bash).
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Which operators a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct Chosen {
    /// Only these operators [default: all].
    #[arg(long, value_name = "OPERATOR,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// Which CRDs to print, or to compare.
#[derive(Debug, Clone, Args)]
pub(crate) struct CrdsArgs {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Print what changes from the CRDs in this file, or from those on standard input (`-`), and what each change means.
    /// Exits with 0 if all changes are safe, with 2 if one breaks stored objects or needs a new version, with 1 on an
    /// error.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// With --check: how to print the changes.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) output: Output,
}

/// Which types to migrate, on which cluster, and how fast.
#[derive(Debug, Clone, Args)]
pub(crate) struct MigrateArgs {
    /// The type: its CRD, plural or kind [default: all types of the operators].
    #[arg(value_name = "TYPE")]
    pub(crate) ty: Option<String>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The kubeconfig [default: $KUBECONFIG, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The most objects to write in a second.
    #[arg(long, value_name = "NUMBER", default_value = "50")]
    pub(crate) per_second: NonZeroU32,
    /// Write nothing: let the API server check each object, and print what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Whose permissions to print, and where they hold.
#[derive(Debug, Clone, Args)]
pub(crate) struct RbacArgs {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The permissions to work in these namespaces only, as `run` does with the same flag. Operators whose
    /// parents have no namespace do not run then.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) namespaces: Vec<String>,
    /// The permissions to share the parents out, as `run` does with the same flag, instead of those to elect a leader: the
    /// processes may also delete Leases [default NAME: operetta].
    #[arg(
        long,
        value_name = "[NAMESPACE/]NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "operetta"
    )]
    pub(crate) sharded: Option<String>,
}

/// Where to write manifests.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManifestsArgs {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Write a Helm chart instead.
    #[arg(long)]
    pub(crate) helm: bool,
    /// The directory. Files of the same names are replaced.
    #[arg(long, value_name = "DIR", default_value = "deploy")]
    pub(crate) out: PathBuf,
}

/// For which cluster and which parents to plan, and how to print that.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The cluster: that of a kubeconfig, or the one in which this process runs.
    #[arg(long, value_enum, default_value = "kubeconfig")]
    pub(crate) cluster: PlanCluster,
    /// The kubeconfig [default: $KUBECONFIG, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Only the parents of this operator.
    #[arg(long, value_name = "NAME")]
    pub(crate) operator: Option<String>,
    /// Only the parents in this namespace.
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Plan for the parents in this file, or for those on standard input (`-`), as if they were applied. It is YAML
    /// with one or more documents, or JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// How to print the plans.
    #[arg(long, value_enum, default_value = "diff")]
    pub(crate) output: PlanOutput,
}

/// Which operators' children to look for, and where.
#[derive(Debug, Clone, Args)]
pub(crate) struct OrphansArgs {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The kubeconfig [default: $KUBECONFIG, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// For which cluster to plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanCluster {
    /// The cluster in which this process runs, with its service account.
    InCluster,
    /// The cluster of a context in a kubeconfig.
    Kubeconfig,
}

/// How to print plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanOutput {
    /// A unified diff with a hunk for each field.
    Diff,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// Which cluster to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterChoice {
    /// That of $KUBECONFIG, else the one in which this process runs, else that of ~/.kube/config.
    Environment,
    /// A Kubernetes API server in this process, for development: its objects are lost at the end.
    Embedded,
    /// The cluster in which this process runs, with its service account.
    InCluster,
    /// The cluster of a context in a kubeconfig.
    Kubeconfig,
}

/// Who may use the web endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthChoice {
    /// Users that the API server authorizes: it reviews the bearer token of each request.
    Delegated,
    /// Everyone who can reach it.
    None,
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags, each on its own")]
pub(crate) struct RunArgs {
    /// Run only these operators [default: all].
    #[arg(long, value_name = "OPERATOR,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// The cluster to run on [default: environment].
    #[arg(long, value_enum)]
    pub(crate) cluster: Option<ClusterChoice>,
    /// The same as --cluster embedded.
    #[arg(long, conflicts_with = "cluster")]
    pub(crate) embedded: bool,
    /// With --cluster kubeconfig: the file [default: $KUBECONFIG, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// With --cluster kubeconfig: the context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Work in these namespaces only. Operators whose parents have no namespace do not run.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) namespaces: Vec<String>,
    /// Install the CRDs first. Always done on the embedded server.
    #[arg(long)]
    pub(crate) install_crds: bool,
    /// The address that serves health, metrics and state over HTTP.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Who may use that address [default: none on loopback, delegated in a cluster and beyond
    /// loopback].
    #[arg(long, value_enum)]
    pub(crate) auth: Option<AuthChoice>,
    /// With --auth delegated: the audiences of which a token must have one [default: the API server].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) auth_audience: Vec<String>,
    /// Serve over TLS: the certificate, followed by its chain, in PEM. The files may be replaced at
    /// any time.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Serve over TLS: the private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Serve over TLS with a new self-signed certificate.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) tls_self_signed: bool,
    /// The host at which a TLS-terminating proxy serves this endpoint to users: their cookies are
    /// `Secure`. The proxy must forward the original Host header.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) behind_tls_proxy: Option<TlsProxy>,
    /// Allow --listen beyond loopback without authentication, for everyone who can reach it, or
    /// without TLS, where tokens can be intercepted.
    #[arg(long)]
    pub(crate) insecure_listen: bool,
    /// Serve AI assistants at /mcp of that address (Model Context Protocol): they read and command what their user may.
    #[cfg(feature = "mcp")]
    #[arg(long)]
    pub(crate) mcp: bool,
    /// The address that answers the webhooks of this program, over TLS [default: that of the program].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) webhook_listen: Option<SocketAddr>,
    /// The Service by which the API server calls them [default: PROGRAM-webhooks].
    #[arg(long, value_name = "NAME", conflicts_with = "webhook_url")]
    pub(crate) webhook_service: Option<String>,
    /// The address at which the API server calls them, such as `https://laptop.example:9443`, for a process outside of the
    /// cluster. The process then applies the webhook configurations.
    #[arg(long, value_name = "URL")]
    pub(crate) webhook_url: Option<String>,
    /// The most objects that the leader writes in a second to migrate them from an old version of their type. With 0 only
    /// the command `migrate` does it [default: that of the program, 20].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) migration_per_second: Option<u32>,
    /// With the embedded server: its address [default: a free port of 127.0.0.1].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) embedded_listen: Option<SocketAddr>,
    /// With the embedded server: the file for its kubeconfig, readable only by you
    /// [default: target/operetta/kubeconfig].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// Run the operators in one of several processes only: the one that holds this Lease. NAMESPACE is by
    /// default that of the process [default NAME: operetta].
    #[arg(
        long,
        value_name = "[NAMESPACE/]NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "operetta"
    )]
    pub(crate) leader_elect: Option<String>,
    /// With --leader-elect: how many seconds the others wait after the last renewal that they saw.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, requires = "leader_elect")]
    pub(crate) leader_elect_lease_duration: u32,
    /// With --leader-elect: how many seconds the leader works after its last renewal.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, requires = "leader_elect")]
    pub(crate) leader_elect_renew_deadline: f32,
    /// With --leader-elect: how many seconds are between renewals.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, requires = "leader_elect")]
    pub(crate) leader_elect_retry_period: f32,
    /// With --leader-elect: the Pod in which this process runs. While this process leads, the Pod has the label
    /// `operetta.dev/leader: "true"`. The Pod is in the namespace of the Lease [default: no Pod is labelled].
    #[arg(long, value_name = "NAME", requires = "leader_elect")]
    pub(crate) leader_elect_pod: Option<String>,
    /// Share the parents of all operators out over several processes: those of this group. Each works for some of the parents.
    /// NAMESPACE is that of their Leases, by default that of the process [default NAME: operetta].
    #[arg(
        long,
        value_name = "[NAMESPACE/]NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "operetta",
        conflicts_with = "leader_elect"
    )]
    pub(crate) sharded: Option<String>,
    /// With --sharded: the URL at which the other processes reach the web endpoint of this one. They send requests on that are
    /// about one of its parents [default: the address of --listen, or `POD_IP` where that is every address].
    #[arg(long, value_name = "URL", requires = "sharded")]
    pub(crate) sharded_url: Option<String>,
    /// With the embedded server: a directory that keeps its objects and credentials over a restart, and
    /// gets its kubeconfig. It is created if it does not exist [default: nothing is kept].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// With the embedded server: whether to simulate workloads. Deployments, their Pods and a node `embedded` then look
    /// as if they ran; nothing runs [default: true].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) simulate_workloads: Option<bool>,
    /// Send a trace of each reconcile to this OpenTelemetry collector, by OTLP over HTTP, for example
    /// `http://127.0.0.1:4318` [default: nothing is traced].
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL", value_parser = AddressParser)]
    pub(crate) otlp_endpoint: Option<Address>,
    /// What to log: a level, or directives such as `warn,operetta=debug` [default: info, and with the format `text` each
    /// write of a child (`info,operetta::writes=debug`)].
    #[arg(long, value_name = "LEVEL", env = "RUST_LOG")]
    pub(crate) log_level: Option<String>,
    /// How to log: lines to read, or a JSON object for each line [default: json in a Pod, else text].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// How to log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object for each line, for programs.
    Json,
}
