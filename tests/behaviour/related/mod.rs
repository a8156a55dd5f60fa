//! Related objects: what a handler reads and does not own.

mod invalid;
mod many;
mod objects;
mod own_type;
mod refused;
mod secrets;
mod selected;
mod stale;

use std::fmt::Write as _;

use anyhow::Error;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{
    object::Object,
    operator::{AnyHandler, with_related},
    prelude::*,
    supervisor::SupervisorBuilder,
};
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, config_map},
    world::{CONFIG_MAP, Operators, SECRET, World, eventually},
};

pub(crate) const READER: &str = "reader";

/// Its parents name in `spec` what they read: `secrets` and `maps` by name, `labels` of `ConfigMaps`, and
/// `others` by name, of a type that is not declared. A child shows what there is.
fn config() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new(READER, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .related::<Secret>()
        .related::<ConfigMap>()
}

fn texts(spec: &Value, field: &str) -> Vec<String> {
    let texts = spec[field].as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn related(parent: &Object) -> Related {
    let spec = parent.field("spec").unwrap_or_default();
    assert!(spec["act"] != "panic-related", "the shelf breaks");
    let mut related = Related::new();
    for name in texts(&spec, "secrets") {
        related = related.named::<Secret>(&*name);
    }
    for name in texts(&spec, "maps") {
        related = related.named::<ConfigMap>(&*name);
    }
    for name in texts(&spec, "others") {
        let other = K8sType::namespaced("v1", "LimitRange", "limitranges");
        related = related.named_of_type(&other, &*name);
    }
    for labels in texts(&spec, "labels") {
        related = related.labelled::<ConfigMap>(&labels);
    }
    related
}

/// What there is, as `name=keys` each.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let mut seen = String::new();
    for kind in ["Secret", "ConfigMap"] {
        for object in request.related_of_type(("v1", kind)) {
            let data = object.field("data").unwrap_or_default();
            let keys: Vec<_> =
                data.as_object().into_iter().flatten().map(|(key, _)| &**key).collect();
            write!(seen, "{}={} ", object.name(), keys.join(","))?;
        }
    }
    if spec["act"] == "quote" {
        let secret = request.related::<Secret>().first()?.and_then(|secret| secret.data.clone());
        let password = secret.and_then(|data| data.get("password").cloned()).unwrap_or_default();
        return Err(Error::msg(format!("refused: {}", String::from_utf8_lossy(&password.0))));
    }
    let name = format!("{}-seen", request.parent.name());
    let child = config_map(&name, json!({"seen": seen.trim_end()}));
    Ok(SyncResponse::status(spec["status"].clone()).child(child))
}

fn handler() -> AnyHandler {
    with_related(sync, related)
}

pub(crate) fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(config(), handler())
}

/// A parent that reads these.
fn reading(name: &str, mut spec: Value) -> Value {
    spec["status"] = json!({});
    json!({"metadata": {"name": name}, "spec": spec})
}

fn secret(name: &str, keys: &[&str]) -> Value {
    let data: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!("c2VjcmV0"))).collect();
    json!({"metadata": {"name": name}, "data": data})
}

/// Waits until the child of a parent shows that its handler saw this.
async fn until_seen(world: &World, parent: &str, expected: &str) {
    let child = format!("{parent}-seen");
    let what = format!("{parent} sees `{expected}`");
    world.until(CONFIG_MAP, &child, &what, |child| child["data"]["seen"] == expected).await;
}

/// The number of related objects of a type in caches of their own.
async fn cached(operators: &Operators, ty: &str) -> u64 {
    let (_, metrics) = operators.http("/metrics").await;
    let series = format!("operetta_related_objects{{type=\"{ty}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
    line.map_or(0, |count| count.parse().unwrap())
}

async fn until_cached(operators: &Operators, ty: &str, expected: u64) {
    let what = format!("{expected} related {ty} in the cache");
    eventually(&what, || cached(operators, ty), |count| *count == expected).await;
}

/// What the endpoint shows of a parent.
async fn shown(world: &World, operators: &Operators, parent: &str) -> Value {
    let path = format!("/api/v1/operators/{READER}/parents/{}/{parent}", world.namespace);
    serde_json::from_str(&operators.http(&path).await.1).unwrap()
}
