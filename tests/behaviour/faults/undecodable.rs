//! Undecodable objects among others.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    started::counts,
};

/// Removes the uid.
fn undecodable() -> Fault {
    Fault::rewrite_objects(|object| {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("uid");
        }
    })
}

/// Gives a metadata field an invalid value, whose text must never be shown.
fn invalid(field: &'static str, value: Value) -> Fault {
    Fault::rewrite_objects(move |object| object["metadata"][field] = value.clone())
}

const WITHOUT_UID: &str =
    "cannot be decoded and is ignored: not a Kubernetes object: `metadata.uid` is missing";

/// Waits for the Event about the parent; returns it.
async fn until_event(faults: &Faults, parent: &str, object: &str, why: &str) -> Value {
    let note = format!("{} {}/{object} {why}", kind_of(parent, object), faults.world.namespace);
    let is_it = |event: &Value| {
        let text = event["note"].as_str().unwrap_or_default();
        event["reason"] == "Undecodable"
            && event["type"] == "Warning"
            && event["regarding"]["kind"] == "Recipe"
            && event["regarding"]["name"] == parent
            && text.starts_with(&note)
    };
    let event = || async { faults.world.list(EVENT).await.into_iter().find(is_it) };
    eventually(&note, event, Option::is_some).await.unwrap()
}

/// The type of the object, which is the parent itself or its child.
fn kind_of(parent: &str, object: &str) -> &'static str {
    if parent == object { "Recipe.test.operetta.dev/v1" } else { "ConfigMap.v1" }
}

/// The cache of a type, over HTTP.
async fn cache(faults: &Faults, ty: &str) -> Value {
    let (code, body) = faults.operators.http(&format!("/api/v1/cache/{ty}")).await;
    assert_eq!(code, 200, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["cache"].take()
}

/// Waits until the web endpoint lists the object as undecodable, or no longer does.
async fn until_undecodable(faults: &Faults, ty: &str, name: &str, expected: bool) {
    let namespace = faults.world.namespace.as_str();
    let is_there = |cache: &Value| {
        let undecodable = cache["undecodable"].as_array().cloned().unwrap_or_default();
        let is_it = |one: &Value| one["name"] == name && one["namespace"] == namespace;
        undecodable.iter().any(is_it) == expected
    };
    let what = format!("{name} undecodable among {ty}: {expected}");
    eventually(&what, || cache(faults, ty), is_there).await;
    let line =
        format!("operetta_cache_undecodable_objects{{type=\"{ty}\"}} {}", u8::from(expected));
    let metrics = || faults.operators.http("/metrics");
    eventually(&line, metrics, |(_, body)| body.lines().any(|shown| shown == line)).await;
    let line = format!("[-]type/{ty} 1 object cannot be decoded and is ignored");
    let ready = || faults.operators.http("/readyz?verbose");
    eventually(&line, ready, |(_, body)| body.contains(&line) == expected).await;
}

async fn until_counted(faults: &Faults, ty: &str) {
    let counted = format!("undecodable_objects_total{{type=\"{ty}\"}}");
    let metrics = || faults.operators.http("/metrics");
    eventually(&counted, metrics, |(_, body)| counts(body, &counted)).await;
    let path = "/api/v1/operators";
    let (code, body) = faults.operators.http(path).await;
    assert_eq!(code, 200, "{body}");
}

#[operetta_harness::test]
async fn an_undecodable_child_is_reported_and_hides_no_other_across_a_restart() {
    let faults = Faults::start().await;
    let both = |salt: &str| {
        [config_map("good", json!({"salt": salt})), config_map("bad", json!({"salt": "much"}))]
    };
    faults.world.apply(RECIPE, recipe("r", &both("little"))).await;
    faults.world.apply(RECIPE, recipe("other", &[config_map("o", json!({}))])).await;
    faults.until_settled("r").await;
    faults.until_settled("other").await;
    let bad = faults.world.get(CONFIG_MAP, "bad").await;
    let broken = Rule::new(undecodable()).resource("configmaps").name("bad");
    let broken = faults.add(broken);
    let faults = faults.restart().await;
    faults.world.apply(RECIPE, recipe("r", &both("much"))).await;
    let is_salted = |child: &Value| child["data"]["salt"] == "much";
    faults.world.until(CONFIG_MAP, "good", "the good one changed", is_salted).await;
    faults.until_not_ready("r", "ConfigMap.v1").await;
    until_event(&faults, "r", "bad", WITHOUT_UID).await;
    until_counted(&faults, "configmaps").await;
    until_undecodable(&faults, "configmaps", "bad", true).await;
    let more = [config_map("o", json!({"pepper": "some"}))];
    faults.world.apply(RECIPE, recipe("other", &more)).await;
    faults.until_settled("other").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it is not modified");
    broken.end();
    faults.until_settled("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it was up to date");
    until_undecodable(&faults, "configmaps", "bad", false).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn an_undecodable_parent_loses_no_child_and_hides_no_other_across_a_restart() {
    let faults = Faults::start().await;
    for name in ["bad", "good"] {
        faults.world.apply(RECIPE, recipe(name, &[config_map(name, json!({}))])).await;
        faults.until_settled(name).await;
    }
    let child = faults.world.get(CONFIG_MAP, "bad").await;
    let broken = faults.add(Rule::new(undecodable()).resource("recipes").name("bad"));
    let faults = faults.restart().await;
    until_counted(&faults, "recipes.test.operetta.dev").await;
    until_event(&faults, "bad", "bad", WITHOUT_UID).await;
    faults.until_shown("bad", WITHOUT_UID).await;
    until_undecodable(&faults, "recipes.test.operetta.dev", "bad", true).await;
    let more = recipe("good", &[config_map("good", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, more).await;
    faults.until_settled("good").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, child);
    broken.end();
    let changed = recipe("bad", &[config_map("bad", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, changed).await;
    faults.until_settled("bad").await;
    let now = faults.world.get(CONFIG_MAP, "bad").await;
    assert_eq!(now["metadata"]["uid"], child["metadata"]["uid"]);
    assert_eq!(now["data"]["salt"], "much");
    until_undecodable(&faults, "recipes.test.operetta.dev", "bad", false).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn an_undecodable_field_of_a_child_is_reported_without_its_content() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("bad", json!({}))])).await;
    faults.until_settled("r").await;
    for (field, value, why) in [
        ("uid", json!(""), WITHOUT_UID),
        ("generation", json!("hidden"), "cannot be decoded and is ignored: "),
        ("resourceVersion", json!({"hidden": 1}), "cannot be decoded and is ignored: "),
        ("ownerReferences", json!("hidden"), "cannot be decoded and is ignored: "),
        ("ownerReferences", json!([{"uid": 7, "controller": "hidden"}]), "cannot be decoded"),
    ] {
        let broken = Rule::new(invalid(field, value)).resource("configmaps").name("bad");
        let broken = faults.add(broken);
        let note = json!({"metadata": {"annotations": {"broken": field}}});
        faults.world.patch(CONFIG_MAP, "bad", note).await;
        until_undecodable(&faults, "configmaps", "bad", true).await;
        until_event(&faults, "r", "bad", why).await;
        broken.end();
        let note = json!({"metadata": {"annotations": {"broken": "nothing"}}});
        faults.world.patch(CONFIG_MAP, "bad", note).await;
        until_undecodable(&faults, "configmaps", "bad", false).await;
        faults.until_settled("r").await;
    }
    let (_, shown) = faults.operators.http("/api/v1/cache/configmaps").await;
    for event in faults.world.list(EVENT).await {
        assert!(!event["note"].to_string().contains("hidden"), "{event}");
    }
    assert!(!shown.contains("hidden"), "{shown}");
    faults.end().await;
}
