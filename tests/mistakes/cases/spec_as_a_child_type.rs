//! The struct of a spec is declared as a child type: name the kind, `child::<Greeting>`.

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

fn main() {
    OperatorConfig::of::<ConfigMap>("a").child::<GreetingSpec>(ChildConfig::apply());
}
