//! An `async` function for errors takes references: take `SyncRequest<P>` and `Arc<Error>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, operator::ErrorResponse, prelude::*};

async fn sync(_: SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

async fn on_error(_: &SyncRequest<ConfigMap>, _: &Error) -> ErrorResponse {
    ErrorResponse::default()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (sync, on_error));
}
