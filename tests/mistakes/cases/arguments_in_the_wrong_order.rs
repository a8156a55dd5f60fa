//! The handler comes before the configuration: write `run_operator(config, sync)`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{prelude::*, supervisor::run_operator};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    let _ = run_operator(sync, OperatorConfig::of::<ConfigMap>("a"));
}
