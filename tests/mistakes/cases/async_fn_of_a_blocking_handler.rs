//! `Handler` has an `async fn`: implement `AsyncHandler`, whose request is taken by value.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Registry;

impl Handler for Registry {
    type Parent = ConfigMap;
    type Response = SyncResponse;

    async fn sync(&self, _: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
        Ok(SyncResponse::new())
    }
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), Registry);
}
