//! A handler is registered in an `Arc`: pass it by value, and share its fields.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Registry;

impl Handler for Registry {
    type Parent = ConfigMap;
    type Response = SyncResponse;

    fn sync(&self, _: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
        Ok(SyncResponse::new())
    }
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), Arc::new(Registry));
}
