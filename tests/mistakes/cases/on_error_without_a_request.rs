//! The function for errors takes no request: take `&SyncRequest<P>` and `&Error`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, operator::ErrorResponse, prelude::*};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn on_error(_: &Error) -> ErrorResponse {
    ErrorResponse::default()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (sync, on_error));
}
