//! The function for errors returns children: return an `ErrorResponse`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, prelude::*};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn on_error(_: &SyncRequest<ConfigMap>, _: &Error) -> SyncResponse {
    SyncResponse::new()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (sync, on_error));
}
