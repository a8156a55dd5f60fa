//! The request has the struct of the spec as its parent: write the kind, `SyncRequest<Greeting>`.

use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    name: String,
}

fn sync(_: &SyncRequest<GreetingSpec>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::custom::<Greeting>("a"), sync);
}
