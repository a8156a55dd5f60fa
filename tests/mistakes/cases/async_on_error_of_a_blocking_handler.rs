//! The function for errors of a blocking handler is asynchronous: write `fn`, or make both `async`.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{anyhow::Error, operator::ErrorResponse, prelude::*};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

async fn on_error(_: SyncRequest<ConfigMap>, _: Arc<Error>) -> ErrorResponse {
    ErrorResponse::default()
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), (sync, on_error));
}
