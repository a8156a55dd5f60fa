//! Two operators in one process: they share watches, but not failures.
//!
//! `cargo run --example two_operators` needs no cluster and ends by itself. It shows that `shouter`
//! fails for its parent while `greeter` continues, and that one watch of `ConfigMaps` serves both.

use anyhow::Error;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, CustomResourceExt};
use operetta::{prelude::*, testkit::TestCluster};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
}

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Shout", namespaced, status = "ShoutStatus")]
struct ShoutSpec {}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default)]
struct ShoutStatus {
    conditions: Conditions,
}

/// A child need not have a Rust type.
fn greet(request: &SyncRequest) -> Result<SyncResponse> {
    let greeting: Greeting = request.parent_as()?;
    Ok(SyncResponse::new().child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": request.parent.name()},
        "data": {"text": greeting.spec.text},
    })))
}

fn shout(_: &SyncRequest) -> Result<SyncResponse> {
    Err(Error::msg("shouting is not possible"))
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[Greeting::crd(), Shout::crd()]).await?;
    let child = ChildConfig::apply();
    let greeter = OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(child);
    let shouter = OperatorConfig::custom::<Shout>("shouter").child::<ConfigMap>(child);
    let _operators =
        cluster.run(|both| both.register(greeter, greet).register(shouter, shout)).await?;

    let shout = cluster.given(Shout::new("loud", ShoutSpec {})).await?;
    let conditions = shout.status.unwrap_or_default().conditions;
    println!("shouter: {:?}", conditions.get("Synced").map(|synced| &synced.message));

    let greeting = Greeting::new("soft", GreetingSpec { text: "hello".to_owned() });
    cluster.given(greeting).await?;
    let made = cluster.get::<ConfigMap>("soft").await?.and_then(|made| made.data);
    println!("greeter: {made:?}");

    let watches = cluster.server().open_watches();
    let shared = watches.iter().filter(|watch| watch.resource == "configmaps").count();
    println!("watches of ConfigMaps: {shared}");
    Ok(())
}
