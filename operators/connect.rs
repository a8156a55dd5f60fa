//! Creates the client for the chosen cluster.

use std::path::PathBuf;
#[cfg(feature = "embedded")]
use std::{net::SocketAddr, path::Path};

use anyhow::Context;
use kube::Client;
use operetta::supervisor::{Connect, Connection};
#[cfg(feature = "embedded")]
use operetta_apiserver::{Builder, Server, WorkloadTiming};

use crate::settings::Target;

/// A connection, and the embedded server if that is the cluster.
pub(crate) struct Connected {
    pub(crate) connection: Connection,
    /// To install CRDs.
    pub(crate) client: Client,
    pub(crate) embedded: Option<Embedded>,
}

/// The embedded server.
pub(crate) struct Embedded {
    /// The file with its kubeconfig.
    pub(crate) kubeconfig: PathBuf,
    /// The directory that keeps its objects, if they are kept.
    pub(crate) data: Option<PathBuf>,
}

/// Connects; for the embedded server, starts it.
pub(crate) async fn connect(target: Target) -> anyhow::Result<Connected> {
    match target {
        #[cfg(feature = "embedded")]
        Target::Embedded { listen, kubeconfig_out, data, simulate_workloads } => {
            let builder = Server::builder();
            let builder = if simulate_workloads {
                builder.simulate_workloads(WorkloadTiming::default())
            } else {
                builder
            };
            embedded(builder, listen, &kubeconfig_out, data)
        }
        #[cfg(not(feature = "embedded"))]
        Target::Embedded { .. } => anyhow::bail!(
            "--cluster embedded: this program was built without the embedded API server; use \
             --cluster kubeconfig or --cluster in-cluster, or build it with the feature `embedded`"
        ),
        Target::InCluster => remote(Connect::InCluster).await.context("--cluster in-cluster"),
        Target::Kubeconfig { file, context } => {
            remote(Connect::Kubeconfig { file, context }).await.context("--cluster kubeconfig")
        }
    }
}

async fn remote(cluster: Connect) -> anyhow::Result<Connected> {
    let connection = cluster.connection().await?;
    Ok(Connected { client: connection.client()?, connection, embedded: None })
}

/// The server lives as long as the runtime that this is called on.
#[cfg(feature = "embedded")]
fn embedded(
    builder: Builder,
    listen: SocketAddr,
    kubeconfig_out: &Path,
    data: Option<PathBuf>,
) -> anyhow::Result<Connected> {
    let server = match &data {
        Some(directory) => builder.start_in(directory).context("--data")?,
        None => builder.start(),
    };
    let running = server.serve(listen).context("--embedded-listen")?;
    running.write_kubeconfig(kubeconfig_out).context("--kubeconfig-out")?;
    let embedded = Some(Embedded { kubeconfig: std::path::absolute(kubeconfig_out)?, data });
    let client = server.client();
    Ok(Connected { connection: client.clone().into(), client, embedded })
}
