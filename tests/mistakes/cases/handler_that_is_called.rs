//! The handler is called where it is registered: pass the function, `sync` without `()`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync());
}
