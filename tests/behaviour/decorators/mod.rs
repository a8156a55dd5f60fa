//! Operators on types that they do not own: what they put on their parents, and what they remove.

mod beside;
mod conflicts;
mod crashes;
mod holding;
mod late;
mod leaving;
mod putting;
mod status;

use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use operetta::{
    object::ObjectKey,
    operator::{Decoration, DecoratorConfig, DecoratorResponse},
    prelude::*,
    supervisor::SupervisorBuilder,
    testkit::internals::board::ParentPhase,
};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::config_map,
    world::{CONFIG_MAP, DEPLOYMENT, Operators, World, eventually},
};

/// Selects a Deployment, and has what its handler returns as JSON.
const DECORATE: &str = "test.operetta.dev/decorate";

/// The label and the annotation that most tests put on a Deployment.
const LABEL: &str = "test.operetta.dev/team";
const NOTE: &str = "test.operetta.dev/note";

/// Returns what the annotation says: `labels`, `annotations`, `children` (names), `replicas` and `status`.
fn sync(request: &SyncRequest) -> Result<DecoratorResponse> {
    let annotations = request.parent.annotations();
    let wanted = annotations.get(DECORATE).map_or("{}", String::as_str);
    let wanted: Value = serde_json::from_str(wanted)?;
    let pairs = |name: &str| wanted[name].as_object().cloned().unwrap_or_default().into_iter();
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let response = SyncResponse::new().with_status(wanted["status"].clone());
    let mut decoration = Decoration::new();
    for (name, value) in pairs("labels") {
        decoration = decoration.label(name, text(value));
    }
    for (name, value) in pairs("annotations") {
        decoration = decoration.annotation(name, text(value));
    }
    if let Some(replicas) = wanted["replicas"].as_i64() {
        decoration = decoration.hold_replicas(replicas.try_into()?);
    }
    let children = wanted["children"].as_array().cloned().unwrap_or_default();
    let child = |name: &Value| config_map(name.as_str().unwrap_or_default(), json!({"k": "v"}));
    let children = children.iter().map(child).collect::<Vec<_>>();
    Ok(response.children(children).decorating(decoration))
}

fn config(name: &str, namespace: &str) -> DecoratorConfig {
    OperatorConfig::decorates::<Deployment>(name)
        .with_parent_annotations(DECORATE)
        .within_namespace(namespace)
        .child::<ConfigMap>(ChildConfig::apply())
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1))
}

fn register(world: &World) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder {
    let config = config("decorator", &world.namespace);
    |builder| builder.register(config, sync)
}

async fn start(world: &World) -> Operators {
    world.start(register(world)).await
}

/// A Deployment without Pods, with a label and an annotation of its own.
async fn deployment(world: &World, name: &str, decorate: Option<Value>) -> Value {
    let labels = json!({"app": name});
    let container = json!({"name": "c", "image": "example.com/none"});
    let body = json!({
        "metadata": {"name": name, "labels": labels, "annotations": annotations(decorate)},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    });
    world.create(DEPLOYMENT, body).await
}

fn annotations(decorate: Option<Value>) -> Value {
    let mut annotations = json!({"mine": "stays"});
    if let Some(wanted) = decorate {
        annotations[DECORATE] = json!(wanted.to_string());
    }
    annotations
}

/// Changes what the handler returns; null deselects the Deployment.
async fn decorate(world: &World, name: &str, wanted: Value) {
    let value = if wanted.is_null() { Value::Null } else { json!(wanted.to_string()) };
    world.patch(DEPLOYMENT, name, json!({"metadata": {"annotations": {DECORATE: value}}})).await;
}

fn everything() -> Value {
    json!({"labels": {LABEL: "blue"}, "annotations": {NOTE: "any text, even this"}, "children": ["extra"]})
}

fn has_label(value: &'static str) -> impl Fn(&Value) -> bool {
    move |deployment| deployment["metadata"]["labels"][LABEL] == value
}

fn is_bare(deployment: &Value) -> bool {
    let metadata = &deployment["metadata"];
    let entries = metadata["managedFields"].as_array().cloned().unwrap_or_default();
    metadata["labels"].get(LABEL).is_none()
        && metadata["annotations"].get(NOTE).is_none()
        && !entries.iter().any(|entry| entry["manager"] == "decorator")
}

fn is_decorated(deployment: &Value) -> bool {
    has_label("blue")(deployment)
        && deployment["metadata"]["annotations"][NOTE] == "any text, even this"
}

async fn until_decorated(world: &World, name: &str) -> Value {
    let decorated = world.until(DEPLOYMENT, name, "the decoration", is_decorated).await;
    world.until(CONFIG_MAP, "extra", "the child", Value::is_object).await;
    decorated
}

/// Waits until the page says of a failing parent what has these parts. Before that, a write may have been refused because
/// the parent had just been changed.
async fn until_failing(world: &World, operators: &Operators, parts: &[&str]) {
    let board = operators.running().board();
    let key = ObjectKey::namespaced(&world.namespace, "d");
    let shown = || async {
        let parent = board.parent("decorator", &key)?;
        let fails = matches!(parent.phase, ParentPhase::Failing | ParentPhase::Stalled);
        fails.then_some(parent.message).flatten()
    };
    let has_all = |message: &str| parts.iter().all(|part| message.contains(part));
    eventually("it fails", shown, |message| message.as_deref().is_some_and(has_all)).await;
}

/// Waits until the operator has no such parent.
async fn until_no_parent(world: &World, operators: &Operators, name: &str) {
    let board = operators.running().board();
    let key = ObjectKey::namespaced(&world.namespace, "d");
    let parent = || async { board.parent(name, &key).is_none() };
    eventually("it is no parent any more", parent, |is_gone| *is_gone).await;
}

/// The writes of the operators in the namespace of the test, without Events.
async fn writes(world: &World) -> Vec<Request> {
    let mut writes = world.our_requests().await;
    let is_here = |it: &Request| it.namespace() == Some(world.namespace.as_str());
    writes.retain(|it| it.is_write() && is_here(it) && it.resource != "events");
    writes
}
