//! `SyncResponse::new()` has a status of JSON: write `SyncResponse::default()` or `SyncResponse::status(..)`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Size {
    keys: usize,
}

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse<Size>> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
