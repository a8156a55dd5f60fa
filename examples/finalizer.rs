//! A handler with a finalizer: it registers a name outside of Kubernetes, and removes it before the
//! parent is deleted.
//!
//! `cargo run --example finalizer` needs no cluster and ends by itself. It shows how a name is
//! added to a registry when its parent is created, and removed before the deleted parent is gone.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use kube::{
    Api, CustomResource, CustomResourceExt, ResourceExt,
    api::{DeleteParams, PostParams},
};
use operetta::{
    prelude::*,
    testkit::{TestCluster, eventually},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A name in a registry.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "DnsName", namespaced)]
struct DnsNameSpec {}

/// Simulates an external service. Adding a name twice changes nothing: a reconcile may be repeated.
#[derive(Clone, Default)]
struct Registry(Arc<Mutex<BTreeSet<String>>>);

impl Registry {
    fn change(&self, change: impl FnOnce(&mut BTreeSet<String>) -> bool) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if change(&mut names) {
            println!("registry: {names:?}");
        }
    }
}

impl Handler for Registry {
    type Parent = DnsName;
    type Response = SyncResponse<()>;

    fn sync(&self, request: &SyncRequest<DnsName>) -> Result<SyncResponse<()>> {
        self.change(|names| names.insert(request.parent.name_any()));
        Ok(SyncResponse::default())
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    /// An error here would keep the parent, and be retried with backoff.
    fn finalize(&self, request: &SyncRequest<DnsName>) -> Result<FinalizeResponse> {
        self.change(|names| names.remove(&request.parent.name_any()));
        Ok(FinalizeResponse::done())
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[DnsName::crd()]).await?;
    let (config, registry) = (OperatorConfig::custom::<DnsName>("dns"), Registry::default());
    let _operators = cluster.run(|supervisor| supervisor.register(config, registry)).await?;

    let names: Api<DnsName> = Api::default_namespaced(cluster.client());
    names.create(&PostParams::default(), &DnsName::new("www", DnsNameSpec {})).await?;
    let finalizers = || async { names.get("www").await.ok()?.metadata.finalizers };
    let finalizers = eventually("the finalizer", finalizers, Option::is_some).await;
    println!("the parent is held by {}", finalizers.unwrap_or_default().join(", "));

    names.delete("www", &DeleteParams::default()).await?;
    let is_gone = || async { matches!(names.get_opt("www").await, Ok(None)) };
    eventually("the end of the parent", is_gone, |is_gone| *is_gone).await;
    println!("the parent is gone");
    Ok(())
}
