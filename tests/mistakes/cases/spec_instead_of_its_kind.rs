//! The struct of the spec is named as the parent: name the kind, `custom::<Greeting>`.

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
    OperatorConfig::custom::<GreetingSpec>("a");
}
