//! Creates the client for the chosen cluster.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use kube::Client;
use operetta::supervisor::{Connect, Connection};
use operetta_apiserver::Server;

use crate::settings::Target;

/// A connection, and the kubeconfig of the embedded server if that is the cluster.
pub(crate) struct Connected {
    pub(crate) connection: Connection,
    /// To install CRDs.
    pub(crate) client: Client,
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// Connects; for the embedded server, starts it.
pub(crate) async fn connect(target: Target) -> anyhow::Result<Connected> {
    match target {
        Target::Embedded { listen, kubeconfig_out } => embedded(listen, &kubeconfig_out),
        Target::InCluster => remote(Connect::InCluster).await.context("--cluster in-cluster"),
        Target::Kubeconfig { file, context } => {
            remote(Connect::Kubeconfig { file, context }).await.context("--cluster kubeconfig")
        }
    }
}

async fn remote(cluster: Connect) -> anyhow::Result<Connected> {
    let config = cluster.config().await?;
    let client = Client::try_from(config.clone())?;
    Ok(Connected { connection: config.into(), client, kubeconfig: None })
}

/// The server lives as long as the runtime that this is called on.
fn embedded(listen: SocketAddr, kubeconfig_out: &Path) -> anyhow::Result<Connected> {
    let server = Server::start();
    let running = server.serve(listen).context("--embedded-listen")?;
    running.write_kubeconfig(kubeconfig_out).context("--kubeconfig-out")?;
    let kubeconfig = Some(std::path::absolute(kubeconfig_out)?);
    let client = server.client();
    Ok(Connected { connection: client.clone().into(), client, kubeconfig })
}
