//! The handler returns the `Action` of kube-rs: return a `SyncResponse`, with `resync_after` for a requeue.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::controller::Action;
use operetta::prelude::*;

async fn reconcile(_: SyncRequest<ConfigMap>) -> Result<Action> {
    Ok(Action::requeue(Duration::from_secs(60)))
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), reconcile);
}
