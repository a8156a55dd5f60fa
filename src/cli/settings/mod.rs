//! Computes the settings from flags and environment: a pure decision.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

#[cfg(feature = "embedded")]
use crate::supervisor::Embedded;
use crate::{
    election::{LeaderElection, Sharding},
    supervisor::Connect,
    web::{Auth, TlsProxy},
};

use crate::cli::command_line::{AuthChoice, ClusterChoice, RunArgs};

/// The settings of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The cluster to run on.
    pub(crate) cluster: Connect,
    /// The flag that chooses it.
    pub(crate) flag: &'static str,
    /// Whether to install the CRDs first. On an embedded server that is done anyway.
    pub(crate) install_crds: bool,
    /// The web endpoint.
    pub(crate) web: Web,
    /// The Lease of the process that works.
    pub(crate) election: Option<LeaderElection>,
    pub(crate) sharding: Option<Sharding>,
}

/// What decides where no flag does.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// Whether the process runs inside a cluster.
    pub(crate) is_inside: bool,
    /// See [`Program::prefer_embedded`](crate::cli::Program::prefer_embedded).
    pub(crate) prefers_embedded: bool,
    /// Commands for a first try on an embedded server.
    pub(crate) suggested: Vec<String>,
}

impl Surroundings {
    fn choice(&self, args: &RunArgs) -> ClusterChoice {
        match args.cluster {
            Some(choice) => choice,
            None if args.embedded => ClusterChoice::Embedded,
            None if self.is_inside && self.prefers_embedded => ClusterChoice::InCluster,
            None if self.prefers_embedded => ClusterChoice::Embedded,
            None => ClusterChoice::Environment,
        }
    }
}

/// The web endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Web {
    /// Its address.
    pub(crate) listen: SocketAddr,
    /// Who may use it.
    pub(crate) auth: Auth,
    /// Its certificate.
    pub(crate) certificate: Option<Certificate>,
    /// The proxy that terminates TLS in front of it.
    pub(crate) tls_proxy: Option<TlsProxy>,
    /// Whether `--insecure-listen` was given.
    pub(crate) insecure_listen: bool,
    /// Whether AI assistants are served.
    #[cfg(feature = "mcp")]
    pub(crate) mcp: bool,
}

/// The source of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// From these files.
    Files {
        /// The certificate and its chain.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// It is generated when the process starts.
    SelfSigned,
}

/// An invalid combination of flags.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// A flag for another kind of cluster: ignoring it could use the wrong cluster.
    #[error("{flag} needs --cluster {needs}, but the cluster is {chosen}")]
    OtherCluster { flag: &'static str, needs: &'static str, chosen: &'static str },
    /// The web endpoint would show the state of the cluster to everyone who reaches it.
    #[error(
        "--listen {0} can be reached from other machines, and --auth none allows everyone; \
         use --auth delegated, a loopback address such as 127.0.0.1:8080, or --insecure-listen"
    )]
    OpenListen(SocketAddr),
    /// Tokens would be sent in clear text.
    #[error(
        "--listen {0} can be reached from other machines, and without TLS tokens can be \
         intercepted; use --tls-cert and --tls-key, --tls-self-signed, a loopback address such as \
         127.0.0.1:8080, or --insecure-listen"
    )]
    ClearListen(SocketAddr),
    /// The server is not part of the program.
    #[cfg(not(feature = "embedded"))]
    #[error(
        "--cluster embedded: this program was built without the embedded API server; use --cluster kubeconfig or --cluster \
         in-cluster, or build it with the feature `embedded`"
    )]
    WithoutEmbedded,
    /// No duration.
    #[error("{flag} {seconds} is no duration: give a positive number of seconds")]
    Seconds { flag: &'static str, seconds: String },
    /// No tokens are reviewed.
    #[error("--auth-audience needs --auth delegated")]
    AudienceWithoutAuth,
}

impl Settings {
    /// Computes them.
    ///
    /// # Errors
    /// Flags that cannot be used together.
    pub(crate) fn resolve(args: RunArgs, surroundings: Surroundings) -> Result<Self, UsageError> {
        let choice = surroundings.choice(&args);
        refuse_flags_of_others(&args, choice)?;
        let is_around = match choice {
            ClusterChoice::InCluster => true,
            ClusterChoice::Environment => surroundings.is_inside,
            ClusterChoice::Embedded | ClusterChoice::Kubeconfig => false,
        };
        let web = Web::of(&args, is_around)?;
        let install_crds = args.install_crds;
        let election =
            args.leader_elect.as_deref().map(|lease| election(lease, &args)).transpose()?;
        let sharding = args.sharded.as_deref().map(|group| sharding(group, &args));
        let flag = flag(choice);
        let cluster = cluster(args, choice, surroundings.suggested)?;
        Ok(Self { cluster, flag, install_crds, web, election, sharding })
    }
}

/// An election by the Lease `[NAMESPACE/]NAME`.
fn election(lease: &str, args: &RunArgs) -> Result<LeaderElection, UsageError> {
    let election = match lease.split_once('/') {
        Some((namespace, name)) => LeaderElection::new(name).in_namespace(namespace),
        None => LeaderElection::new(lease),
    };
    let seconds = |flag, seconds| {
        Duration::try_from_secs_f32(seconds)
            .map_err(|_| UsageError::Seconds { flag, seconds: seconds.to_string() })
    };
    let election = args.leader_elect_pod.iter().fold(election, LeaderElection::labels_pod);
    Ok(election
        .with_lease_duration(Duration::from_secs(args.leader_elect_lease_duration.into()))
        .with_renew_deadline(seconds(
            "--leader-elect-renew-deadline",
            args.leader_elect_renew_deadline,
        )?)
        .with_retry_period(seconds("--leader-elect-retry-period", args.leader_elect_retry_period)?))
}

/// The group `[NAMESPACE/]NAME`.
fn sharding(group: &str, args: &RunArgs) -> Sharding {
    let sharding = match group.split_once('/') {
        Some((namespace, name)) => Sharding::new(name).in_namespace(namespace),
        None => Sharding::new(group),
    };
    args.sharded_url.iter().fold(sharding, Sharding::reached_at)
}

impl Web {
    fn of(args: &RunArgs, is_around: bool) -> Result<Self, UsageError> {
        let RunArgs { listen, insecure_listen, .. } = *args;
        let is_private = listen.ip().is_loopback() && !is_around;
        let default = if is_private { AuthChoice::None } else { AuthChoice::Delegated };
        let auth = match args.auth.unwrap_or(default) {
            AuthChoice::Delegated => Auth::Delegated { audiences: args.auth_audience.clone() },
            AuthChoice::None if args.auth_audience.is_empty() => Auth::None,
            AuthChoice::None => return Err(UsageError::AudienceWithoutAuth),
        };
        let certificate = match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(Certificate::Files { certificate: certificate.clone(), key: key.clone() })
            }
            _ => args.tls_self_signed.then_some(Certificate::SelfSigned),
        };
        let tls_proxy = args.behind_tls_proxy.clone();
        let web = Self {
            listen,
            auth,
            certificate,
            tls_proxy,
            insecure_listen,
            #[cfg(feature = "mcp")]
            mcp: args.mcp,
        };
        web.check_exposure()
    }

    fn check_exposure(self) -> Result<Self, UsageError> {
        match self.listen.ip().is_loopback() || self.insecure_listen {
            false if self.auth == Auth::None => Err(UsageError::OpenListen(self.listen)),
            false if self.certificate.is_none() => Err(UsageError::ClearListen(self.listen)),
            _ => Ok(self),
        }
    }
}

fn cluster(
    args: RunArgs,
    choice: ClusterChoice,
    suggested: Vec<String>,
) -> Result<Connect, UsageError> {
    match choice {
        ClusterChoice::Environment => Ok(Connect::infer()),
        ClusterChoice::Embedded => embedded(args, suggested),
        ClusterChoice::InCluster => Ok(Connect::InCluster),
        ClusterChoice::Kubeconfig => {
            Ok(Connect::Kubeconfig { file: args.kubeconfig, context: args.context })
        }
    }
}

#[cfg(feature = "embedded")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it is an error")]
fn embedded(args: RunArgs, suggested: Vec<String>) -> Result<Connect, UsageError> {
    let server = Embedded::default().suggest(suggested);
    let server = args.embedded_listen.into_iter().fold(server, Embedded::listen);
    let server = args.data.into_iter().fold(server, Embedded::data);
    let server = args.kubeconfig_out.into_iter().fold(server, Embedded::kubeconfig);
    let are_simulated = args.simulate_workloads.unwrap_or(true);
    Ok(if are_simulated { server } else { server.without_workloads() }.into())
}

#[cfg(not(feature = "embedded"))]
fn embedded(_: RunArgs, _: Vec<String>) -> Result<Connect, UsageError> {
    Err(UsageError::WithoutEmbedded)
}

fn refuse_flags_of_others(args: &RunArgs, choice: ClusterChoice) -> Result<(), UsageError> {
    let of_kubeconfig = ClusterChoice::Kubeconfig;
    let of_embedded = ClusterChoice::Embedded;
    for (is_given, flag, owner) in [
        (args.kubeconfig.is_some(), "--kubeconfig", of_kubeconfig),
        (args.context.is_some(), "--context", of_kubeconfig),
        (args.embedded_listen.is_some(), "--embedded-listen", of_embedded),
        (args.kubeconfig_out.is_some(), "--kubeconfig-out", of_embedded),
        (args.data.is_some(), "--data", of_embedded),
        (args.simulate_workloads.is_some(), "--simulate-workloads", of_embedded),
    ] {
        if is_given && owner != choice {
            let (needs, chosen) = (name(owner), name(choice));
            return Err(UsageError::OtherCluster { flag, needs, chosen });
        }
    }
    Ok(())
}

fn flag(choice: ClusterChoice) -> &'static str {
    match choice {
        ClusterChoice::Environment => "--cluster environment",
        ClusterChoice::Embedded => "--cluster embedded",
        ClusterChoice::InCluster => "--cluster in-cluster",
        ClusterChoice::Kubeconfig => "--cluster kubeconfig",
    }
}

fn name(choice: ClusterChoice) -> &'static str {
    match choice {
        ClusterChoice::Environment => "environment",
        ClusterChoice::Embedded => "embedded",
        ClusterChoice::InCluster => "in-cluster",
        ClusterChoice::Kubeconfig => "kubeconfig",
    }
}

#[cfg(test)]
mod tests;
