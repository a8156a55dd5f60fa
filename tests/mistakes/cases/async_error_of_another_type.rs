//! The error of an `async fn` is not that of `operetta::prelude::Result`: return `Result<SyncResponse>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::{OperatorConfig, Supervisor, SyncRequest, SyncResponse};

async fn sync(_: SyncRequest<ConfigMap>) -> Result<SyncResponse, kube::Error> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
