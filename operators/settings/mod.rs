//! From flags and environment to what the process does: a pure decision.

use std::{net::SocketAddr, path::PathBuf};

use operetta::web::{Auth, TlsProxy};

use crate::cli::{AuthChoice, ClusterChoice, RunArgs};

/// What the process does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The cluster to run on.
    pub(crate) target: Target,
    /// Whether to install the resource definitions first.
    pub(crate) install_crds: bool,
    /// Where to serve health, metrics and state, to whom and how.
    pub(crate) web: Web,
}

/// The web endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Web {
    /// Its address.
    pub(crate) listen: SocketAddr,
    /// Who may use it.
    pub(crate) auth: Auth,
    /// What it is encrypted with.
    pub(crate) certificate: Option<Certificate>,
    /// What ends TLS in front of it.
    pub(crate) tls_proxy: Option<TlsProxy>,
    /// Whether somebody has allowed to do without.
    pub(crate) insecure_listen: bool,
}

/// Where a certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// From these files.
    Files {
        /// The certificate and those behind it.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// It is made when the process starts.
    SelfSigned,
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
    /// The web endpoint would show the state of the cluster to whoever reaches it.
    #[error(
        "--listen {0} can be reached from other machines, and --auth none lets everybody in; \
         use --auth delegated, a loopback address such as 127.0.0.1:8080, or --insecure-listen"
    )]
    OpenListen(SocketAddr),
    /// Tokens would be sent in clear text.
    #[error(
        "--listen {0} can be reached from other machines, and without TLS tokens can be read on \
         their way; use --tls-cert and --tls-key, --tls-self-signed, a loopback address such as \
         127.0.0.1:8080, or --insecure-listen"
    )]
    ClearListen(SocketAddr),
    /// Nobody is asked for a token.
    #[error("--auth-audience needs --auth delegated")]
    AudienceOfNobody,
}

impl Settings {
    /// Decides, given whether the process runs inside of a cluster.
    pub(crate) fn resolve(args: RunArgs, inside_a_cluster: bool) -> Result<Self, UsageError> {
        let outside = [ClusterChoice::Embedded, ClusterChoice::InCluster];
        let choice = args.cluster.unwrap_or(outside[usize::from(inside_a_cluster)]);
        refuse_flags_of_others(&args, choice)?;
        let web = Web::of(&args, choice)?;
        let install_crds = args.install_crds || choice == ClusterChoice::Embedded;
        Ok(Self { target: target(args, choice), install_crds, web })
    }
}

impl Web {
    fn of(args: &RunArgs, choice: ClusterChoice) -> Result<Self, UsageError> {
        let RunArgs { listen, insecure_listen, .. } = *args;
        let is_private = listen.ip().is_loopback() && choice != ClusterChoice::InCluster;
        let default = if is_private { AuthChoice::None } else { AuthChoice::Delegated };
        let auth = match args.auth.unwrap_or(default) {
            AuthChoice::Delegated => Auth::Delegated { audiences: args.auth_audience.clone() },
            AuthChoice::None if args.auth_audience.is_empty() => Auth::None,
            AuthChoice::None => return Err(UsageError::AudienceOfNobody),
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
mod tests;
