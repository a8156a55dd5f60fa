//! A server with a client, a CRD for tests, and helpers that wait without sleeping.

pub(crate) mod control_plane;
pub(crate) mod open_cases;
pub(crate) mod program;

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use operetta_apiserver::Server;
use serde_json::{Value, json};

/// A server and a client in process.
pub(crate) fn server() -> (Server, Client) {
    let server = Server::start();
    let client = server.client_as("test/1.0");
    (server, client)
}

/// The dynamic API of a kind in a namespace; an empty namespace means cluster-scoped.
pub(crate) fn api(
    client: &Client,
    api_version: &str,
    kind: &str,
    namespace: &str,
) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    match namespace {
        "" => Api::all_with(client.clone(), &resource),
        _ => Api::namespaced_with(client.clone(), namespace, &resource),
    }
}

/// Config maps of the default namespace.
pub(crate) fn config_maps(client: &Client) -> Api<DynamicObject> {
    api(client, "v1", "ConfigMap", "default")
}

/// Widgets of the default namespace; [`define_widgets`] comes first.
pub(crate) fn widgets(client: &Client) -> Api<DynamicObject> {
    api(client, "example.com/v1", "Widget", "default")
}

/// The definition of a type with a schema, a status and printer columns.
pub(crate) fn widget_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "required": ["spec"],
                    "properties": {
                        "spec": {
                            "type": "object",
                            "required": ["size"],
                            "properties": {
                                "size": {"type": "integer", "minimum": 0},
                                "color": {"type": "string", "default": "red"},
                            },
                        },
                        "status": {
                            "type": "object",
                            "properties": {"phase": {"type": "string"}},
                        },
                    },
                }},
            }],
        },
    })
}

/// Creates the definition of Widgets.
pub(crate) async fn define_widgets(client: &Client) {
    let definitions = api(client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    create(&definitions, widget_definition()).await;
}

/// An object from JSON.
pub(crate) fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("it is an object")
}

/// Creates an object.
pub(crate) async fn create(api: &Api<DynamicObject>, value: Value) -> DynamicObject {
    api.create(&PostParams::default(), &object(value)).await.expect("it is created")
}

/// Server-side apply.
pub(crate) async fn apply(
    api: &Api<DynamicObject>,
    name: &str,
    manager: &str,
    value: &Value,
) -> Result<DynamicObject, kube::Error> {
    api.patch(name, &PatchParams::apply(manager), &Patch::Apply(value)).await
}

/// A config map.
pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"key": value},
    })
}

/// A Widget.
pub(crate) fn widget(name: &str, size: i64) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"size": size},
    })
}

/// The failure that the server answered with.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String, String) {
    match result.expect_err("it is refused") {
        kube::Error::Api(status) => (status.code, status.reason, status.message),
        other => panic!("not an answer of the server: {other}"),
    }
}

/// Watches an object until it is deleted.
pub(crate) async fn gone(api: &Api<DynamicObject>, name: &str) {
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = api.watch(&params, "0").await.expect("it can be watched").boxed();
    if api.get_opt(name).await.expect("it can be read").is_none() {
        return;
    }
    while let Some(event) = events.try_next().await.expect("the watch continues") {
        if matches!(event, WatchEvent::Deleted(_)) {
            return;
        }
    }
    panic!("the watch ended before {name} was gone");
}
