//! The response is not in a `Result`: return `Result<SyncResponse>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(_: &SyncRequest<ConfigMap>) -> SyncResponse {
    SyncResponse::new()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
