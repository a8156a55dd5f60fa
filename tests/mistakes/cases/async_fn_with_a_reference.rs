//! An `async fn` takes the request by reference: take it by value, `SyncRequest<P>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

async fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
