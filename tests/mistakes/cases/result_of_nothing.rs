//! The handler returns no response: return `Result<SyncResponse>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn sync(_: &SyncRequest<ConfigMap>) -> Result<()> {
    Ok(())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
