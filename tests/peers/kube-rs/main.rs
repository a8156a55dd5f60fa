//! `Greeting` with kube-rs: `reconcile` writes the `ConfigMap` and the status.

#![allow(clippy::needless_pass_by_value, reason = "kube asks for it")]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResource, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams},
    runtime::{Controller, controller::Action, watcher},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

// ANCHOR: types
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
#[kube(status = "GreetingStatus")]
struct GreetingSpec {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
struct GreetingStatus {
    #[serde(default)]
    greeted: usize,
}
// ANCHOR_END: types

// ANCHOR: operator
fn config_map(greeting: &Greeting) -> ConfigMap {
    let mut child = ConfigMap::default();
    child.metadata.name = Some(greeting.name_any());
    child.metadata.labels = Some([("greeting".to_owned(), greeting.name_any())].into());
    child.metadata.owner_references = greeting.controller_owner_ref(&()).map(|owner| vec![owner]);
    child.data = Some([("hello".to_owned(), greeting.spec.name.clone())].into());
    child
}

async fn reconcile(greeting: Arc<Greeting>, client: Arc<Client>) -> kube::Result<Action> {
    if greeting.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let (name, namespace) = (greeting.name_any(), greeting.namespace().unwrap_or_default());
    let config_maps: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    let apply = PatchParams::apply("greeter").force();
    config_maps.patch(&name, &apply, &Patch::Apply(config_map(&greeting))).await?;

    let ours = ListParams::default().labels(&format!("greeting={name}"));
    let greeted = config_maps.list(&ours).await?.items.len();
    let status = Patch::Merge(json!({"status": {"greeted": greeted}}));
    let greetings: Api<Greeting> = Api::namespaced((*client).clone(), &namespace);
    greetings.patch_status(&name, &PatchParams::default(), &status).await?;
    Ok(Action::await_change())
}

fn on_error(greeting: Arc<Greeting>, error: &kube::Error, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", greeting.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let (greetings, config_maps) = (Api::<Greeting>::all(client.clone()), Api::all(client.clone()));
    Controller::new(greetings, watcher::Config::default())
        .owns::<ConfigMap>(config_maps, watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, on_error, Arc::new(client))
        .for_each(|_| async {})
        .await;
    Ok(())
}
// ANCHOR_END: operator
