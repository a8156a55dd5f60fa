//! A closure has no types: write `|request: &SyncRequest<P>| -> Result<SyncResponse> { .. }`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), |_| Ok(SyncResponse::new()));
}
