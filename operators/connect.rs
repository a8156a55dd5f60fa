//! Creates the client for the chosen cluster.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use kube::Client;
use operetta::supervisor::Connect;
use operetta_apiserver::Server;

use crate::settings::Target;

/// A client, and the kubeconfig of the embedded server if that is the cluster.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// Connects; for the embedded server, starts it.
pub(crate) async fn connect(target: Target) -> anyhow::Result<Connection> {
    match target {
        Target::Embedded { listen, kubeconfig_out } => embedded(listen, &kubeconfig_out),
        Target::InCluster => remote(Connect::InCluster).await.context("--cluster in-cluster"),
        Target::Kubeconfig { file, context } => {
            remote(Connect::Kubeconfig { file, context }).await.context("--cluster kubeconfig")
        }
    }
}

async fn remote(cluster: Connect) -> anyhow::Result<Connection> {
    Ok(Connection { client: cluster.client().await?, kubeconfig: None })
}

/// The server lives as long as the runtime that this is called on.
fn embedded(listen: SocketAddr, kubeconfig_out: &Path) -> anyhow::Result<Connection> {
    let server = Server::start();
    let running = server.serve(listen).context("--embedded-listen")?;
    running.write_kubeconfig(kubeconfig_out).context("--kubeconfig-out")?;
    let kubeconfig = Some(std::path::absolute(kubeconfig_out)?);
    Ok(Connection { client: server.client(), kubeconfig })
}
