//! `with_finalizer` gets a struct: implement `has_finalizer` and `finalize` of `Handler`.

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

fn finalize(_: &SyncRequest<ConfigMap>) -> Result<FinalizeResponse> {
    Ok(FinalizeResponse::done())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), with_finalizer(Registry, finalize));
}
