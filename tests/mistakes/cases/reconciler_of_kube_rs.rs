//! The handler has the form of a reconciler of kube-rs: take one `SyncRequest<P>`, return `Result<SyncResponse>`.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::controller::Action;
use operetta::prelude::*;

async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> Result<Action, kube::Error> {
    Ok(Action::requeue(Duration::from_secs(60)))
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), reconcile);
}
