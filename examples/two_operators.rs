//! Two operators in one process: they share watches, but not failures.
//!
//! `cargo run --example two_operators` needs no cluster and ends by itself. It shows that `shouter`
//! fails for its parent while `greeter` continues, and that one watch of `ConfigMaps` serves both.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, CustomResourceExt, api::PostParams};
use operetta::{
    object::ObjectKey,
    prelude::*,
    testkit::{TestCluster, eventually},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
}

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Shout", namespaced)]
struct ShoutSpec {}

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
    let greeter = OperatorConfig::of::<Greeting>("greeter").child::<ConfigMap>(child);
    let shouter = OperatorConfig::of::<Shout>("shouter").child::<ConfigMap>(child);
    let operators =
        cluster.run(|both| both.register(greeter, greet).register(shouter, shout)).await?;

    let shouts: Api<Shout> = Api::default_namespaced(cluster.client());
    shouts.create(&PostParams::default(), &Shout::new("loud", ShoutSpec {})).await?;
    // The state of a parent is also in its conditions, and served over HTTP.
    let loud = ObjectKey::namespaced("default", "loud");
    let failure = || async { operators.board().parent("shouter", &loud)?.message };
    println!("shouter: {:?}", eventually("the failure", failure, Option::is_some).await);

    let greetings: Api<Greeting> = Api::default_namespaced(cluster.client());
    let greeting = Greeting::new("soft", GreetingSpec { text: "hello".to_owned() });
    greetings.create(&PostParams::default(), &greeting).await?;
    let config_maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let made = || async { config_maps.get_opt("soft").await.ok()?.and_then(|made| made.data) };
    println!("greeter: {:?}", eventually("the ConfigMap", made, Option::is_some).await);

    let watches = cluster.server().open_watches();
    let shared = watches.iter().filter(|watch| watch.resource == "configmaps").count();
    println!("watches of ConfigMaps: {shared}");
    Ok(())
}
