//! One of `sync` and `finalize` is asynchronous: write both as `fn`, or both as `async fn`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

async fn finalize(_: SyncRequest<ConfigMap>) -> Result<FinalizeResponse> {
    Ok(FinalizeResponse::done())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), with_finalizer(sync, finalize));
}
