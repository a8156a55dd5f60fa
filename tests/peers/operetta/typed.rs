//! `Greeting` with Operetta: the handler returns the `ConfigMap` that should exist.

#![allow(clippy::unnecessary_wraps, reason = "a handler may fail")]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, ResourceExt};
use operetta::{prelude::*, supervisor::run_operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// ANCHOR: types
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
#[kube(status = "GreetingStatus")]
struct GreetingSpec {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
struct GreetingStatus {
    #[serde(default)]
    greeted: usize,
}
// ANCHOR_END: types

// ANCHOR: operator
fn config_map(greeting: &Greeting) -> ConfigMap {
    let mut child = ConfigMap::default();
    child.metadata.name = Some(greeting.name_any());
    child.data = Some([("hello".to_owned(), greeting.spec.name.clone())].into());
    child
}

fn sync(request: &SyncRequest<Greeting>) -> Result<SyncResponse<GreetingStatus>> {
    let greeted = request.children::<ConfigMap>().len();
    Ok(SyncResponse::status(GreetingStatus { greeted }).child(config_map(&request.parent)))
}

fn main() -> Result<()> {
    let config =
        OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(ChildConfig::apply());
    Ok(run_operator(config, sync)?)
}
// ANCHOR_END: operator
