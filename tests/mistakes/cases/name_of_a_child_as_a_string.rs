//! The name of a child is a `String`: pass `&name`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let name = String::from("b");
    let _ = request.child::<ConfigMap>(name)?;
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
