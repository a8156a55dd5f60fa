//! What is done before the operators start, each until the process is to stop.

use std::{pin::Pin, time::Duration};

use futures::future::BoxFuture;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use serde_json::Value;
use tokio::{runtime::Handle, time::timeout};

use super::{
    Connection, RunError,
    certificates::{Keeper, SharedCertificates},
};
use crate::{
    cluster::{Cluster, apply_webhooks, described_error, install_crds},
    manifests::in_namespace,
};

/// Creates the client on the supervisor's runtime, which then drives its connections.
pub(super) type Connecting =
    Box<dyn FnOnce() -> BoxFuture<'static, anyhow::Result<Connection>> + Send>;

/// How long a connection that is being made has to end.
const LET_GO: Duration = Duration::from_millis(400);

/// The connection with its credentials; none if the process is to stop before.
pub(super) async fn connected(
    connect: Connecting,
    runtime: &Handle,
    stopped: Pin<&mut impl Future<Output = ()>>,
) -> Result<Option<Connection>, RunError> {
    let connect = async { connect().await?.login().await };
    before(runtime, connect, stopped)
        .await
        .map_err(|error| RunError::Connect(described_error(error)))
}

/// Installs CRDs, and what lets the API server call the webhooks.
pub(super) async fn installed(
    client: Client,
    crds: Vec<CustomResourceDefinition>,
    webhooks: Vec<Value>,
) -> anyhow::Result<()> {
    let crds = crds.into_iter().map(|crd| in_namespace(crd, client.default_namespace()));
    install_crds(&client, &crds.collect::<Vec<_>>()).await?;
    Ok(apply_webhooks(&client, &webhooks).await?)
}

/// The certificates of webhooks that all replicas share.
pub(super) async fn certified(
    shared: Option<SharedCertificates>,
    cluster: Cluster,
) -> anyhow::Result<Option<Keeper>> {
    match shared {
        Some(shared) => Ok(Some(Keeper::begin(shared, &cluster).await?)),
        None => Ok(None),
    }
}

/// What has to be done before the operators start; none if the process is to stop before.
pub(super) async fn before<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = anyhow::Result<T>> + Send + 'static,
    stopped: Pin<&mut impl Future<Output = ()>>,
) -> anyhow::Result<Option<T>> {
    let mut working = runtime.spawn(work);
    tokio::select! {
        done = &mut working => Ok(Some(done??)),
        () = stopped => {
            // A plugin that runs is killed with it. What blocks its thread is not waited for.
            working.abort();
            let _ = timeout(LET_GO, working).await;
            Ok(None)
        }
    }
}
