//! The operator `config-propagation`: copies of a `ConfigMap` or a Secret in selected namespaces.

mod conflicts;
mod copies;
mod sources;

use operators::config_propagation::{ConfigPropagation, config};
use serde_json::{Value, json};

use crate::world::{
    CONFIG_MAP, Kind, NAMESPACE, Operators, PROPAGATION, SECRET, World, condition, eventually,
};

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(config(), ConfigPropagation)).await
}

/// A namespace whose label selects it for this test.
async fn selected(world: &World, suffix: &str) -> String {
    let name = format!("{}-{suffix}", world.namespace);
    let labels = json!({"propagate": world.namespace});
    world.create(NAMESPACE, json!({"metadata": {"name": name, "labels": labels}})).await;
    name
}

async fn label(world: &World, namespace: &str, value: Value) {
    world.patch(NAMESPACE, namespace, json!({"metadata": {"labels": {"propagate": value}}})).await;
}

/// A `Propagation` of the object `ca` in the namespace of the test, which has the name of that namespace.
fn propagation(world: &World, kind: &str, exclude: &[&str]) -> Value {
    let selector = json!({"matchLabels": {"propagate": world.namespace}});
    json!({"metadata": {"name": world.namespace}, "spec": {
        "source": {"kind": kind, "namespace": world.namespace, "name": "ca"},
        "namespaces": {"selector": selector, "exclude": exclude},
    }})
}

async fn source(world: &World, kind: Kind, data: Value) {
    world.apply(kind, json!({"metadata": {"name": "ca"}, "data": data})).await;
}

async fn copy(world: &World, kind: Kind, namespace: &str) -> Value {
    let copy = world.api_in(kind, Some(namespace)).get_opt("ca").await.unwrap();
    serde_json::to_value(copy).unwrap()
}

/// Waits until the copy in a namespace has this data; none for null.
async fn until_copied(world: &World, kind: Kind, namespace: &str, data: Value) -> Value {
    let what = format!("{data} in {namespace}");
    eventually(&what, || copy(world, kind, namespace), |copy| copy["data"] == data).await
}

/// Waits until the status has this condition and reason, and returns the object.
async fn until_reported(world: &World, ty: &str, reason: &str) -> Value {
    let is_reported = |parent: &Value| condition(parent, ty)["reason"] == reason;
    world.until(PROPAGATION, &world.namespace, reason, is_reported).await
}
