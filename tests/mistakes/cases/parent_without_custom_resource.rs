//! The parent is a plain struct: derive `CustomResource` for its spec.

use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
struct Greeting {
    name: String,
}

fn sync(_: &SyncRequest<Greeting>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<Greeting>("a"), sync);
}
