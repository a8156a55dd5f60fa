//! The spec has no schema: derive `JsonSchema`.

use kube::CustomResource;
use operetta::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    name: String,
}

fn main() {
    OperatorConfig::custom::<Greeting>("a");
}
