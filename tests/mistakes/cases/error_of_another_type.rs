//! The error is not that of `operetta::prelude::Result`: return `Result<SyncResponse>`, and convert by `?`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::{OperatorConfig, Supervisor, SyncRequest, SyncResponse};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<SyncResponse, std::io::Error> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
