//! The operators of the benchmark: that of the recipes, and what its causes need beside.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Error;
use futures::{FutureExt, future::LocalBoxFuture};
use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret, Service},
};
use operetta::{
    object::{Object, Readiness},
    operator::{ConflictPolicy, Rolling},
    prelude::*,
    supervisor::SupervisorBuilder,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{cause::Parent, rig::Rig};
use crate::{
    recipe::{self, RECIPE, config_map},
    world::{ECHO, Kind, TEMP, World},
};

pub(super) const NAME: &str = "cook";
/// The operator of parents that other controllers fight over, that are rolled out, and that are finalized.
const WAITER: &str = "waiter";
/// The operator of parents without a namespace.
const HOST: &str = "host";

pub(super) const E: Parent = Parent { operator: WAITER, kind: ECHO, name: "e" };
pub(super) const GUEST: Parent = Parent { operator: HOST, kind: TEMP, name: "" };

/// A parent whose name does not fit its Service.
pub(super) const DOTTED: &str = "shop.example";
/// The same with more than 63 letters.
pub(super) const LONG: &str =
    "a-shop-with-a-name-of-which-its-owner-is-proud-and-which-is-longer-than-a-label";

pub(super) fn usual() -> LocalBoxFuture<'static, Rig> {
    async {
        let world = World::new().await;
        let operators = world.start(register).await;
        Rig::new(world, operators)
    }
    .boxed_local()
}

fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(cook(), sync).register(waiter(), Waiter).register(host(), arrange)
}

fn parent(kind: Kind) -> K8sType {
    K8sType::namespaced(kind.0, kind.1, kind.2)
}

pub(super) fn cook() -> OperatorConfig {
    let reported = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    OperatorConfig::new(NAME, parent(RECIPE))
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(reported)
        .child::<Service>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Job>(ChildConfig::apply())
        .child::<PersistentVolumeClaim>(ChildConfig::apply())
        .with_handler_deadline(Duration::from_secs(1))
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(10))
}

/// Only with children of the simplest types, for users with few permissions.
pub(super) fn small_cook() -> OperatorConfig {
    OperatorConfig::new(NAME, parent(RECIPE))
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1))
}

/// The only operator that these operators lack a permission or a type for.
pub(super) fn small_waiter(child: K8sType) -> OperatorConfig {
    OperatorConfig::new(WAITER, parent(ECHO))
        .child::<ConfigMap>(ChildConfig::apply())
        .child_of_type(child, ChildConfig::apply())
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1))
}

pub(super) fn host() -> OperatorConfig {
    OperatorConfig::new(HOST, K8sType::cluster_scoped(TEMP.0, TEMP.1, TEMP.2))
        .child::<ConfigMap>(ChildConfig::apply())
        .with_handler_deadline(Duration::from_secs(1))
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1))
}

fn waiter() -> OperatorConfig {
    let rolling = ChildConfig::apply().rolling(Rolling::max_unavailable(1));
    OperatorConfig::new(WAITER, parent(ECHO))
        .child::<ConfigMap>(rolling)
        .ready_when(readiness)
        .with_error_backoff(Duration::from_millis(50), Duration::from_secs(1))
}

fn readiness(child: &ConfigMap) -> Readiness {
    let is_bad = child.data.as_ref().is_some_and(|data| data.get("x").is_some_and(|x| x == "bad"));
    if is_bad { Readiness::failed("it is broken") } else { Readiness::ready() }
}

// === the handlers ===

/// What fits the type of a handler.
#[derive(Deserialize)]
struct Menu {
    portions: u32,
}

/// `named` returns a Service with the name of its parent, `typed` reads a number, and `spec.stages` are returned one
/// after the other.
pub(super) async fn sync(request: SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    match spec["act"].as_str() {
        Some("named") => {
            let service = json!({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": request.parent.name()},
                "spec": {"ports": [{"port": 80}]},
            });
            Ok(SyncResponse::status(json!({})).child(service))
        }
        Some("typed") => {
            let Menu { portions } = request.parent.parse_field_as("spec")?;
            Ok(SyncResponse::status(json!({"taste": format!("{portions} times good")})))
        }
        _ if spec["stages"].is_array() => Ok(staged(&spec)),
        _ => recipe::sync_async(request).await,
    }
}

fn staged(spec: &Value) -> SyncResponse {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut response = SyncResponse::status(json!({}));
    for (number, stage) in list(&spec["stages"]).iter().enumerate() {
        if number > 0 {
            response = response.then();
        }
        response = response.children(list(stage));
        if let Some(seconds) = spec["within"].as_u64() {
            response = response.ready_within(Duration::from_secs(seconds));
        }
    }
    response
}

/// What the annotation of a parent orders.
fn ordered(request: &SyncRequest, name: &str) -> String {
    request.parent.annotations().remove(name).unwrap_or_default()
}

struct Waiter;

impl Handler for Waiter {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        let children = match ordered(request, "act").as_str() {
            "flap" => vec![config_map("c", json!({"salt": "mild"}))],
            "roll" => {
                let x = ordered(request, "x");
                ["a", "b", "c"].map(|name| config_map(name, json!({"x": x}))).to_vec()
            }
            _ => Vec::new(),
        };
        Ok(SyncResponse::status(json!({})).children(children))
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        if ordered(request, "act") == "keep" {
            return Err(Error::msg("the table is not cleared"));
        }
        Ok(FinalizeResponse::done())
    }
}

/// Another system, which answers once it is there.
static SUPPLIER: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

pub(super) fn supplier_answers() {
    let (is_there, changed) = &SUPPLIER;
    *is_there.lock().unwrap_or_else(PoisonError::into_inner) = true;
    changed.notify_all();
}

/// A `ConfigMap` in the namespace that the parent names; `act: ask` waits for another system before.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
pub(super) fn arrange(request: &SyncRequest) -> Result<SyncResponse> {
    if ordered(request, "act") == "ask" {
        let (is_there, changed) = &SUPPLIER;
        let there = is_there.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(there, |is_there| !*is_there));
    }
    let mut child = config_map("c", json!({}));
    child["metadata"]["namespace"] = json!(ordered(request, "in"));
    Ok(SyncResponse::status(json!({})).child(child))
}

/// A parent of the waiter.
pub(super) fn waiting(act: &str) -> Value {
    json!({
        "metadata": {"name": "e", "annotations": {"act": act}}, "spec": {"serviceName": "e"},
    })
}

/// A parent of the host with a child in this namespace.
pub(super) fn guest(name: &str, namespace: &str) -> Value {
    json!({
        "metadata": {"name": name, "annotations": {"in": namespace}}, "spec": {"deleteAfter": "1h"},
    })
}
