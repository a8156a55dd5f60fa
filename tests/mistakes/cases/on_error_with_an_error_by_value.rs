//! The function for errors takes the error by value: take `&Error`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, operator::ErrorResponse, prelude::*};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn on_error(_: &SyncRequest<ConfigMap>, error: Error) -> ErrorResponse {
    drop(error);
    ErrorResponse::default()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (sync, on_error));
}
