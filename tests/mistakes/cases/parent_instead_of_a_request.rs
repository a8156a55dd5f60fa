//! The handler takes the parent: take a `&SyncRequest<P>`, which has it as `request.parent`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(_: &ConfigMap) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
