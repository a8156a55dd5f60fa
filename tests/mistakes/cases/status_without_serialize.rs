//! The status cannot be serialized: derive `serde::Serialize`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Size {
    keys: usize,
}

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse<Size>> {
    Ok(SyncResponse::status(Size { keys: 1 }))
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
