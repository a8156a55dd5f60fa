//! The struct of a spec is asked for as children: name the kind, `children::<Greeting>`.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    name: String,
}

fn sync(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let _ = request.children::<GreetingSpec>().len();
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
