//! A struct is registered that implements neither trait: write `impl Handler for Registry`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

struct Registry;

impl Registry {
    fn sync(&self, _: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
        Ok(SyncResponse::new())
    }
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), Registry);
}
