//! A blocking function takes the request by value: take it by reference, `&SyncRequest<P>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(request: SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    drop(request);
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
