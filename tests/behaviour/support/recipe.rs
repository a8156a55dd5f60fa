//! An operator for tests whose parents specify the answer of the handler.
//!
//! A `Recipe` has `spec.children` (returned unchanged), `spec.status`, and `spec.act`: `fail`, `panic`,
//! `hang`, `permanent`, `no-json`, `large`, `many`, `dice`, `names`. `spec` has no schema.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use anyhow::Error;
use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, Pod, Secret, Service},
        discovery::v1::EndpointSlice,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use operetta::{
    operator::{AnyHandler, IntoHandler},
    prelude::*,
};
use serde_json::{Value, json};

use crate::world::Kind;

pub(crate) const RECIPE: Kind = Kind("test.operetta.dev/v1", "Recipe", "recipes");

/// The same with children that are only changed when they are deleted.
pub(crate) fn config_on_delete(name: &str) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new(name, parent).child::<ConfigMap>(ChildConfig::on_delete())
}

pub(crate) fn config(name: &str) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new(name, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
        .child::<EndpointSlice>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1))
}

pub(crate) fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    match spec["act"].as_str() {
        Some("fail") => return Err(Error::msg("the oven is cold")),
        Some("permanent") => return Err(Permanent("no such dish".to_owned()).into()),
        Some("no-json") => {
            let odd = BTreeMap::from([(vec!["a list"], "is no name of a field")]);
            return Ok(SyncResponse::new().child(&odd));
        }
        Some("panic") => panic!("the kitchen burns"),
        Some("hang") => loop {
            std::thread::park();
        },
        Some("large") => {
            let large = config_map("large", json!({"dough": "x".repeat(2_000_000)}));
            return Ok(SyncResponse::new().child(large));
        }
        Some("many") => {
            let many = (0..=10_000).map(|number| config_map(&format!("many-{number}"), json!({})));
            return Ok(SyncResponse::new().children(many.collect::<Vec<_>>()));
        }
        Some("dice") => {
            static THROWS: AtomicU64 = AtomicU64::new(0);
            let throw = THROWS.fetch_add(1, Ordering::Relaxed).to_string();
            return Ok(SyncResponse::new().child(config_map("dice", json!({"throw": throw}))));
        }
        Some("names") => {
            static NAMES: AtomicU64 = AtomicU64::new(0);
            let name = format!("dish-{}", NAMES.fetch_add(1, Ordering::Relaxed));
            return Ok(SyncResponse::new().child(config_map(&name, json!({}))));
        }
        _ => {}
    }
    let children = spec["children"].as_array().cloned().unwrap_or_default();
    Ok(SyncResponse::status(spec["status"].clone()).children(children))
}

/// The same as an asynchronous handler: `hang` awaits what never happens.
pub(crate) async fn sync_async(request: SyncRequest) -> Result<SyncResponse> {
    tokio::task::yield_now().await;
    if request.parent.field("spec").unwrap_or_default()["act"] == "hang" {
        std::future::pending::<()>().await;
    }
    sync(&request)
}

/// The handler of most tests: the blocking one, or with `OPERETTA_TEST_HANDLERS=async` the other.
pub(crate) fn handler() -> AnyHandler {
    let kind = std::env::var("OPERETTA_TEST_HANDLERS");
    if kind.as_deref() == Ok("async") { sync_async.into_handler() } else { sync.into_handler() }
}

/// The handler as a blocking and as an asynchronous one.
pub(crate) fn of_both_kinds() -> [AnyHandler; 2] {
    [sync.into_handler(), sync_async.into_handler()]
}

/// A parent with these desired children.
pub(crate) fn recipe(name: &str, children: &[Value]) -> Value {
    json!({"metadata": {"name": name}, "spec": {"children": children, "status": {}}})
}

/// A parent whose handler performs this act.
pub(crate) fn acting(name: &str, act: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"act": act, "status": {}}})
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// The type, with or without a status subresource.
pub(crate) fn crd(status: Option<Value>) -> CustomResourceDefinition {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut properties = json!({"spec": free});
    let has_status = status.is_some();
    if let Some(status) = status {
        properties["status"] = status;
    }
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "recipes.test.operetta.dev"},
        "spec": {
            "group": "test.operetta.dev",
            "scope": "Namespaced",
            "names": {"kind": "Recipe", "plural": "recipes", "singular": "recipe",
                "listKind": "RecipeList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": if has_status { json!({"status": {}}) } else { json!({}) },
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
            }],
        },
    });
    serde_json::from_value(crd).unwrap()
}

/// The type without a declared status, whose root preserves unknown fields.
pub(crate) fn crd_with_open_root() -> CustomResourceDefinition {
    let mut crd = serde_json::to_value(crd(Some(status()))).unwrap();
    let root = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema").unwrap();
    root["properties"].as_object_mut().unwrap().remove("status");
    root["x-kubernetes-preserve-unknown-fields"] = json!(true);
    serde_json::from_value(crd).unwrap()
}

/// The type with fields marked as secret: the password, and every value of the tokens.
pub(crate) fn crd_with_secrets() -> CustomResourceDefinition {
    let mut crd = serde_json::to_value(crd(Some(status()))).unwrap();
    let secret = json!({"type": "string", "format": "password"});
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    crd.pointer_mut(spec).unwrap()["properties"] = json!({
        "password": secret,
        "tokens": {"type": "object", "additionalProperties": secret},
    });
    serde_json::from_value(crd).unwrap()
}

/// A status with conditions, a generation and one field.
pub(crate) fn status() -> Value {
    json!({
        "type": "object",
        "properties": {
            "observedGeneration": {"type": "integer", "format": "int64"},
            "taste": {"type": "string"},
            "courses": {"type": "array", "items": {"type": "object", "properties": {
                "dish": {"type": "string"}, "served": {"type": "string", "default": "hot"},
            }}},
            "children": {"type": "array", "items": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
            "childrenOmitted": {"type": "integer"},
            "conditions": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {
                    "type": "object",
                    "required": ["type", "status"],
                    "properties": {
                        "type": {"type": "string"},
                        "status": {"type": "string"},
                        "reason": {"type": "string"},
                        "message": {"type": "string"},
                        "lastTransitionTime": {"type": "string", "format": "date-time"},
                        "observedGeneration": {"type": "integer", "format": "int64"},
                    },
                },
            },
        },
    })
}
