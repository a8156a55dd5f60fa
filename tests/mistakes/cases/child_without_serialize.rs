//! The child cannot be serialized: derive `serde::Serialize`, or return a type of k8s-openapi, or JSON.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Page {
    name: String,
}

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new().child(Page { name: String::new() }))
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
