//! An `impl Handler` names no types: add `type Parent` and `type Response`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Registry;

impl Handler for Registry {
    fn sync(&self, _: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
        Ok(SyncResponse::new())
    }
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), Registry);
}
