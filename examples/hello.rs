//! The smallest operator: for every `Greeting` it creates a `ConfigMap` with a greeting.
//!
//! `cargo run --example hello` needs no cluster and ends by itself. It prints the `ConfigMap` that
//! the operator created for a `Greeting`, with its labels and its owner.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, CustomResourceExt, api::ObjectMeta};
use operetta::{prelude::*, testkit::TestCluster};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom to greet.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    name: String,
}

/// The handler: returns what should exist for a parent. The framework does everything else.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let greeting: Greeting = request.parent_as()?;
    let text = format!("Hello, {}!", greeting.spec.name);
    Ok(SyncResponse::new().child(ConfigMap {
        metadata: ObjectMeta { name: greeting.metadata.name, ..ObjectMeta::default() },
        data: Some([("text".to_owned(), text)].into()),
        ..ConfigMap::default()
    }))
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(ChildConfig::apply())
}

// On a real cluster: `Supervisor::builder().register(config(), sync).run().await`.
#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[Greeting::crd()]).await?;
    let _operators = cluster.run(|supervisor| supervisor.register(config(), sync)).await?;

    cluster.given(Greeting::new("first", GreetingSpec { name: "world".to_owned() })).await?;
    if let Some(mut made) = cluster.get::<ConfigMap>("first").await? {
        made.metadata.managed_fields = None;
        println!("{}", serde_yaml_ng::to_string(&made)?);
    }
    Ok(())
}
