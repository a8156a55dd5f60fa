//! The command line, as clap reads it. What the flags mean together is in `settings`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use operetta::web::TlsProxy;

/// Runs the operators of this repository in one process.
///
/// Without flags it runs them in the cluster that it was started in; outside of a cluster it
/// starts an embedded Kubernetes API server of its own. A kubeconfig is only used with
/// `--cluster kubeconfig`: the current one may lead to production.
#[derive(Debug, Parser)]
#[command(name = "operators", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What to do instead of running.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum Command {
    /// Print the definitions of the operators' resources (deploy/crds.yaml).
    Crds,
    /// Print the permissions that the operators need (deploy/rbac.yaml).
    Rbac,
}

/// Which cluster to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterChoice {
    /// A Kubernetes API server in this process, for development: it keeps nothing.
    Embedded,
    /// The cluster that this process runs in, as its service account.
    InCluster,
    /// The cluster of a kubeconfig's context.
    Kubeconfig,
}

/// Who may use the web endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthChoice {
    /// Whom the API server lets: it reviews the bearer token of each request.
    Delegated,
    /// Whoever reaches it.
    None,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The cluster to run on [default: in-cluster inside of one, else embedded].
    #[arg(long, value_enum)]
    pub(crate) cluster: Option<ClusterChoice>,
    /// With --cluster kubeconfig: the file [default: $KUBECONFIG, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// With --cluster kubeconfig: the context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Install the resource definitions first. Always done on the embedded server.
    #[arg(long)]
    pub(crate) install_crds: bool,
    /// Where to serve health, metrics and state over HTTP.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Who may use what is served there [default: none on loopback, delegated in a cluster and
    /// beyond loopback].
    #[arg(long, value_enum)]
    pub(crate) auth: Option<AuthChoice>,
    /// With --auth delegated: whom a token must be meant for; may be given more than once
    /// [default: the API server].
    #[arg(long, value_name = "NAME")]
    pub(crate) auth_audience: Vec<String>,
    /// Serve over TLS: the certificate, followed by those that lead to its authority, in PEM. The
    /// files may be replaced at any time.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Serve over TLS: the key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Serve over TLS with a certificate that is made now and that nobody vouches for.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) tls_self_signed: bool,
    /// A proxy that ends TLS serves this endpoint to visitors, at this host: their cookies are
    /// `Secure`. The proxy is to pass on the Host that it was asked for.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) behind_tls_proxy: Option<TlsProxy>,
    /// Allow --listen beyond loopback also without authentication, to whoever reaches it, or
    /// without TLS, where tokens can be read on their way.
    #[arg(long)]
    pub(crate) insecure_listen: bool,
    /// With the embedded server: its address [default: a free port of 127.0.0.1].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) embedded_listen: Option<SocketAddr>,
    /// With the embedded server: where to write its kubeconfig, readable by you alone
    /// [default: target/operetta/kubeconfig].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// What to log: a level, or directives such as `warn,operetta=debug`.
    #[arg(
        long,
        value_name = "LEVEL",
        env = "RUST_LOG",
        default_value = "info,actix_server=warn,actix_http=off,kube_client=off"
    )]
    pub(crate) log_level: String,
}
