//! The spec cannot be deserialized: derive `Deserialize`.

use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(CustomResource, Serialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    name: String,
}

fn main() {
    OperatorConfig::custom::<Greeting>("a");
}
