//! The function for related objects returns names: return `Related::new().named::<Secret>("..")`.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{operator::with_related, prelude::*};

fn sync(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let _ = request.related_object::<Secret>("b")?;
    Ok(SyncResponse::new())
}

fn related(_: &ConfigMap) -> Vec<String> {
    vec![String::from("b")]
}

fn main() {
    let config = OperatorConfig::of::<ConfigMap>("a").related::<Secret>();
    Supervisor::builder().register(config, with_related(sync, related));
}
