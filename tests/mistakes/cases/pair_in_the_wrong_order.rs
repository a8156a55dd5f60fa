//! The function for errors comes first: write `(sync, on_error)`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, operator::ErrorResponse, prelude::*};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn on_error(_: &SyncRequest<ConfigMap>, _: &Error) -> ErrorResponse {
    ErrorResponse::default()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (on_error, sync));
}
