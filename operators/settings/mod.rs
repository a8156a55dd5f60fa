//! Computes the settings from flags and environment: a pure decision.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use operetta::{
    election::LeaderElection,
    web::{Auth, TlsProxy},
};

use crate::cli::{AuthChoice, ClusterChoice, RunArgs};

/// The settings of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The cluster to run on.
    pub(crate) target: Target,
    /// Whether to install the CRDs first.
    pub(crate) install_crds: bool,
    /// The web endpoint.
    pub(crate) web: Web,
    /// The Lease of the process that works.
    pub(crate) election: Option<LeaderElection>,
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

/// A cluster to run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A server in this process.
    Embedded {
        /// Its address.
        listen: SocketAddr,
        /// The file for its kubeconfig.
        kubeconfig_out: PathBuf,
        /// The directory that keeps its objects, if they are kept.
        data: Option<PathBuf>,
        /// Whether workloads look as if they ran.
        simulate_workloads: bool,
    },
    /// The cluster in which this process runs.
    InCluster,
    /// The cluster of a kubeconfig.
    Kubeconfig {
        /// The file, if not the usual one.
        file: Option<PathBuf>,
        /// The context, if not the current one.
        context: Option<String>,
    },
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
    /// No duration.
    #[error("{flag} {seconds} is no duration: give a positive number of seconds")]
    Seconds { flag: &'static str, seconds: String },
    /// No tokens are reviewed.
    #[error("--auth-audience needs --auth delegated")]
    AudienceWithoutAuth,
}

impl Settings {
    /// Computes them, given whether the process runs inside a cluster.
    pub(crate) fn resolve(args: RunArgs, inside_a_cluster: bool) -> Result<Self, UsageError> {
        let outside = [ClusterChoice::Embedded, ClusterChoice::InCluster];
        let choice = args.cluster.unwrap_or(outside[usize::from(inside_a_cluster)]);
        refuse_flags_of_others(&args, choice)?;
        let web = Web::of(&args, choice)?;
        let install_crds = args.install_crds || choice == ClusterChoice::Embedded;
        let election =
            args.leader_elect.as_deref().map(|lease| election(lease, &args)).transpose()?;
        Ok(Self { target: target(args, choice), install_crds, web, election })
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
    Ok(election
        .with_lease_duration(Duration::from_secs(args.leader_elect_lease_duration.into()))
        .with_renew_deadline(seconds(
            "--leader-elect-renew-deadline",
            args.leader_elect_renew_deadline,
        )?)
        .with_retry_period(seconds("--leader-elect-retry-period", args.leader_elect_retry_period)?))
}

impl Web {
    fn of(args: &RunArgs, choice: ClusterChoice) -> Result<Self, UsageError> {
        let RunArgs { listen, insecure_listen, .. } = *args;
        let is_private = listen.ip().is_loopback() && choice != ClusterChoice::InCluster;
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
        let web = Self { listen, auth, certificate, tls_proxy, insecure_listen };
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

fn target(args: RunArgs, choice: ClusterChoice) -> Target {
    match choice {
        ClusterChoice::Embedded => Target::Embedded {
            listen: args.embedded_listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))),
            kubeconfig_out: args.kubeconfig_out.unwrap_or_else(|| match &args.data {
                Some(directory) => directory.join("kubeconfig"),
                None => PathBuf::from("target/operetta/kubeconfig"),
            }),
            data: args.data,
            simulate_workloads: args.simulate_workloads.unwrap_or(true),
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

fn name(choice: ClusterChoice) -> &'static str {
    match choice {
        ClusterChoice::Embedded => "embedded",
        ClusterChoice::InCluster => "in-cluster",
        ClusterChoice::Kubeconfig => "kubeconfig",
    }
}

#[cfg(test)]
mod tests;
