//! A handler of an operator that owns its parents decorates them: make the configuration with `decorates`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{
    operator::{Decoration, DecoratorResponse},
    prelude::*,
};

fn sync(_: &SyncRequest<ConfigMap>) -> Result<DecoratorResponse> {
    Ok(SyncResponse::new().decorating(Decoration::new()))
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
