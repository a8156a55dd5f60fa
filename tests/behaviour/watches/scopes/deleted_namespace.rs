//! The namespace of a child of a cluster-scoped parent is deleted.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Patch;
use operetta::prelude::*;
use serde_json::{Value, json};

use super::{TestNamespaces, spread};
use crate::world::{
    CONFIG_MAP, EVENT, NAMESPACE, Operators, TEMP, World, condition, eventually, is_ready,
};

/// A cluster-scoped parent with a child in each of two namespaces.
struct Spread {
    world: World,
    namespaces: TestNamespaces,
    operators: Operators,
    parent: String,
}

impl Spread {
    async fn start() -> Self {
        let world = World::new().await;
        let namespaces = world.create_namespaces().await;
        let spread = spread(&namespaces);
        let ty = K8sType::cluster_scoped(TEMP.0, TEMP.1, TEMP.2);
        let config = OperatorConfig::new("spread", ty)
            .child::<ConfigMap>(ChildConfig::apply())
            .with_error_backoff(Duration::from_millis(100), Duration::from_millis(500));
        let operators = world.start(|builder| builder.register(config, spread)).await;
        let parent = format!("{}-spread", world.namespace);
        let body = json!({"metadata": {"name": parent}, "spec": {"deleteAfter": "1h"}});
        world.create(TEMP, body).await;
        world.until(TEMP, &parent, "the parent ready", is_ready).await;
        Self { world, namespaces, operators, parent }
    }

    /// Waits until failed reconciles are reported in all four namespaces with these words, and are retried.
    async fn until_reported(&self, words: &str) {
        let failed = self.failed_reconciles().await;
        let is_reported = |parent: &Value| {
            let ready = condition(parent, "Ready");
            ready["status"] == "False"
                && ready["reason"] == "WriteFailed"
                && ready["message"].as_str().is_some_and(|message| message.contains(words))
        };
        self.world.until(TEMP, &self.parent, &format!("Ready: {words}"), is_reported).await;
        self.until_warned(words).await;
        let path = format!("/api/v1/operators/spread/parents/{}", self.parent);
        let shown = || async {
            let (_, body) = self.operators.http(&path).await;
            let shown: Value = serde_json::from_str(&body).unwrap();
            shown["message"].as_str().unwrap_or_default().to_owned()
        };
        eventually(words, shown, |message| message.contains(words)).await;
        eventually("a failed reconcile", || self.failed_reconciles(), |now| *now > failed).await;
    }

    /// Events about cluster-scoped objects are in `default`.
    async fn until_warned(&self, words: &str) {
        let events = || async {
            let all = self.world.api_in(EVENT, Some("default")).list(&<_>::default()).await;
            let all = all.unwrap().items.into_iter();
            all.map(|event| serde_json::to_value(event).unwrap()).collect::<Vec<_>>()
        };
        let is_it = |event: &Value| {
            let note = event["note"].as_str().unwrap_or_default();
            event["type"] == "Warning"
                && event["regarding"]["name"] == json!(self.parent)
                && note.contains(words)
        };
        let what = format!("a Warning Event: {words}");
        eventually(&what, events, |events| events.iter().any(is_it)).await;
    }

    async fn failed_reconciles(&self) -> u64 {
        let (_, metrics) = self.operators.http("/metrics").await;
        let series = "operetta_reconciles_total{operator=\"spread\",outcome=\"failed\"} ";
        let count = metrics.lines().find_map(|line| line.strip_prefix(series));
        count.map_or(0, |count| count.parse().unwrap())
    }

    async fn child_in(&self, namespace: &str) -> Value {
        self.world.get_in(namespace, CONFIG_MAP, "spread").await
    }
}

/// Keeps a deleted namespace terminating until it is released.
async fn hold(world: &World, namespace: &str) {
    let metadata = json!({"name": "anchor", "finalizers": ["example.com/anchor"]});
    world.create_in(namespace, CONFIG_MAP, json!({"metadata": metadata})).await;
}

async fn release(world: &World, namespace: &str) {
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let api = world.api_in(CONFIG_MAP, Some(namespace));
    api.patch("anchor", &<_>::default(), &free).await.unwrap();
    world.until(NAMESPACE, namespace, "the namespace gone", Value::is_null).await;
}

#[operetta_harness::test(server)]
async fn a_child_in_a_deleted_namespace_is_reported_and_created_again_with_the_namespace() {
    let spread = Spread::start().await;
    let Spread { world, namespaces: TestNamespaces { a, b, .. }, parent, .. } = &spread;
    let (lost, of_parent) = (spread.child_in(a).await, world.get(TEMP, parent).await);
    hold(world, a).await;
    world.delete(NAMESPACE, a).await;
    world.until_in(a, CONFIG_MAP, "spread", Value::is_null).await;
    spread.until_reported(&format!("namespace {a} because it is being terminated")).await;
    // The child in the other namespace is still repaired.
    let child = spread.child_in(b).await;
    world.api_in(CONFIG_MAP, Some(b)).delete("spread", &<_>::default()).await.unwrap();
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    world.until_in(b, CONFIG_MAP, "spread", is_another).await;

    release(world, a).await;
    spread.until_reported(&format!("namespaces \"{a}\" not found")).await;
    world.create(NAMESPACE, json!({"metadata": {"name": a}})).await;
    let back = world.until_in(a, CONFIG_MAP, "spread", Value::is_object).await;
    assert_eq!(back["data"], lost["data"]);
    assert_ne!(back["metadata"]["uid"], lost["metadata"]["uid"]);
    let ready = world.until(TEMP, parent, "the parent ready again", is_ready).await;
    let as_made = |field: &str| of_parent["metadata"][field] == ready["metadata"][field];
    assert!(as_made("uid") && as_made("generation"), "the parent is unchanged");
    spread.operators.stop().await;
}
