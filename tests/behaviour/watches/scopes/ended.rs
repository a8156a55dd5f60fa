//! Under a parent of the whole cluster the namespace of a child ends, for real.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Patch;
use operetta::prelude::*;
use serde_json::{Value, json};

use super::{Places, spread};
use crate::world::{
    CONFIG_MAP, EVENT, NAMESPACE, Operators, TEMP, World, condition, eventually, is_ready,
};

/// A parent of the whole cluster with a child in each of two namespaces.
struct Spread {
    world: World,
    places: Places,
    operators: Operators,
    parent: String,
}

impl Spread {
    async fn start() -> Self {
        let world = World::new().await;
        let places = world.places().await;
        let spread = spread(&places);
        let ty = K8sType::cluster_scoped(TEMP.0, TEMP.1, TEMP.2);
        let config = OperatorConfig::new("spread", ty)
            .child::<ConfigMap>(ChildConfig::apply())
            .with_error_backoff(Duration::from_millis(100), Duration::from_millis(500));
        let operators = world.start(|builder| builder.register(config, spread)).await;
        let parent = format!("{}-spread", world.namespace);
        let body = json!({"metadata": {"name": parent}, "spec": {"deleteAfter": "1h"}});
        world.create(TEMP, body).await;
        world.until(TEMP, &parent, "the parent ready", is_ready).await;
        Self { world, places, operators, parent }
    }

    /// Waits until it is told in all four places that runs fail, with these words, and that they go on.
    async fn until_told(&self, words: &str) {
        let failed = self.failed_runs().await;
        let says = |parent: &Value| {
            let ready = condition(parent, "Ready");
            ready["status"] == "False"
                && ready["reason"] == "WriteFailed"
                && ready["message"].as_str().is_some_and(|message| message.contains(words))
        };
        self.world.until(TEMP, &self.parent, &format!("Ready: {words}"), says).await;
        self.until_warned(words).await;
        let path = format!("/api/v1/operators/spread/parents/{}", self.parent);
        let shown = || async {
            let (_, body) = self.operators.http(&path).await;
            let shown: Value = serde_json::from_str(&body).unwrap();
            shown["message"].as_str().unwrap_or_default().to_owned()
        };
        eventually(words, shown, |message| message.contains(words)).await;
        eventually("a failed reconcile", || self.failed_runs(), |now| *now > failed).await;
    }

    /// An Event about what is in no namespace is in `default`.
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

    async fn failed_runs(&self) -> u64 {
        let (_, metrics) = self.operators.http("/metrics").await;
        let series = "operetta_reconciles_total{operator=\"spread\",outcome=\"failed\"} ";
        let count = metrics.lines().find_map(|line| line.strip_prefix(series));
        count.map_or(0, |count| count.parse().unwrap())
    }

    async fn child_in(&self, namespace: &str) -> Value {
        self.world.get_in(namespace, CONFIG_MAP, "spread").await
    }
}

/// Keeps a namespace that is deleted from its end until it is let go.
async fn hold_open(world: &World, namespace: &str) {
    let metadata = json!({"name": "anchor", "finalizers": ["example.com/anchor"]});
    world.create_in(namespace, CONFIG_MAP, json!({"metadata": metadata})).await;
}

async fn let_go(world: &World, namespace: &str) {
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let api = world.api_in(CONFIG_MAP, Some(namespace));
    api.patch("anchor", &<_>::default(), &free).await.unwrap();
    world.until(NAMESPACE, namespace, "the namespace gone", Value::is_null).await;
}

#[operetta_harness::test]
async fn a_child_whose_namespace_ends_is_said_to_be_missing_and_comes_back_with_the_namespace() {
    let spread = Spread::start().await;
    let Spread { world, places: Places { a, b, .. }, parent, .. } = &spread;
    let (lost, of_parent) = (spread.child_in(a).await, world.get(TEMP, parent).await);
    hold_open(world, a).await;
    world.delete(NAMESPACE, a).await;
    world.until_in(a, CONFIG_MAP, "spread", Value::is_null).await;
    spread.until_told(&format!("namespace {a} because it is being terminated")).await;
    // The child in the other namespace is looked after all the while.
    let child = spread.child_in(b).await;
    world.api_in(CONFIG_MAP, Some(b)).delete("spread", &<_>::default()).await.unwrap();
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    world.until_in(b, CONFIG_MAP, "spread", is_another).await;

    let_go(world, a).await;
    spread.until_told(&format!("namespaces \"{a}\" not found")).await;
    world.create(NAMESPACE, json!({"metadata": {"name": a}})).await;
    let back = world.until_in(a, CONFIG_MAP, "spread", Value::is_object).await;
    assert_eq!(back["data"], lost["data"]);
    assert_ne!(back["metadata"]["uid"], lost["metadata"]["uid"]);
    let ready = world.until(TEMP, parent, "the parent ready again", is_ready).await;
    let as_made = |field: &str| of_parent["metadata"][field] == ready["metadata"][field];
    assert!(as_made("uid") && as_made("generation"), "nobody has changed the parent");
    spread.operators.stop().await;
}
