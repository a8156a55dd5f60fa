//! Objects that cannot be read among others that can.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    started::counts,
};

/// No object has no uid.
fn undecodable() -> Fault {
    Fault::rewrite_objects(|object| {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("uid");
        }
    })
}

/// One field of the metadata is what it never is; the text must never be seen.
fn garbage(field: &'static str, value: Value) -> Fault {
    Fault::rewrite_objects(move |object| object["metadata"][field] = value.clone())
}

const WITHOUT_UID: &str =
    "cannot be decoded and is ignored: not a Kubernetes object: `metadata.uid` is missing";

/// Waits for the Event about the parent that says so; returns it.
async fn until_told(faults: &Faults, parent: &str, object: &str, why: &str) -> Value {
    let note = format!("{} {}/{object} {why}", kind_of(parent, object), faults.world.namespace);
    let is_it = |event: &Value| {
        let text = event["note"].as_str().unwrap_or_default();
        event["reason"] == "Undecodable"
            && event["type"] == "Warning"
            && event["regarding"]["kind"] == "Recipe"
            && event["regarding"]["name"] == parent
            && text.starts_with(&note)
    };
    let told = || async { faults.world.list(EVENT).await.into_iter().find(is_it) };
    eventually(&note, told, Option::is_some).await.unwrap()
}

/// A parent tells of itself, or of its child.
fn kind_of(parent: &str, object: &str) -> &'static str {
    if parent == object { "Recipe.test.operetta.dev/v1" } else { "ConfigMap.v1" }
}

/// The cache of a type, over HTTP.
async fn cache(faults: &Faults, ty: &str) -> Value {
    let (code, body) = faults.operators.http(&format!("/api/v1/cache/{ty}")).await;
    assert_eq!(code, 200, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["cache"].take()
}

/// Waits until the web endpoint names the object among those that are left out, or no longer.
async fn until_left_out(faults: &Faults, ty: &str, name: &str, expected: bool) {
    let namespace = faults.world.namespace.as_str();
    let is_there = |cache: &Value| {
        let undecodable = cache["undecodable"].as_array().cloned().unwrap_or_default();
        let is_it = |one: &Value| one["name"] == name && one["namespace"] == namespace;
        undecodable.iter().any(is_it) == expected
    };
    let what = format!("{name} left out of {ty}: {expected}");
    eventually(&what, || cache(faults, ty), is_there).await;
    let (_, metrics) = faults.operators.http("/metrics").await;
    let line =
        format!("operetta_cache_undecodable_objects{{type=\"{ty}\"}} {}", u8::from(expected));
    assert!(metrics.lines().any(|shown| shown == line), "{line} in {metrics}");
    let (_, ready) = faults.operators.http("/readyz?verbose").await;
    let line = format!("[-]type/{ty} 1 object cannot be decoded and is ignored");
    assert_eq!(ready.contains(&line), expected, "{ready}");
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
async fn a_child_that_cannot_be_read_is_said_and_hides_no_other_across_a_restart() {
    let faults = Faults::start().await;
    let both = |salt: &str| {
        [config_map("good", json!({"salt": salt})), config_map("bad", json!({"salt": "much"}))]
    };
    faults.world.apply(RECIPE, recipe("r", &both("little"))).await;
    faults.world.apply(RECIPE, recipe("other", &[config_map("o", json!({}))])).await;
    faults.until_well("r").await;
    faults.until_well("other").await;
    let bad = faults.world.get(CONFIG_MAP, "bad").await;
    let broken = Rule::new(undecodable()).resource("configmaps").name("bad");
    let broken = faults.add(broken);
    let faults = faults.restart().await;
    faults.world.apply(RECIPE, recipe("r", &both("much"))).await;
    let is_salted = |child: &Value| child["data"]["salt"] == "much";
    faults.world.until(CONFIG_MAP, "good", "the good one changed", is_salted).await;
    faults.until_said("r", "ConfigMap.v1").await;
    until_told(&faults, "r", "bad", WITHOUT_UID).await;
    until_counted(&faults, "configmaps").await;
    until_left_out(&faults, "configmaps", "bad", true).await;
    let more = [config_map("o", json!({"pepper": "some"}))];
    faults.world.apply(RECIPE, recipe("other", &more)).await;
    faults.until_well("other").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it is not touched");
    broken.end();
    faults.until_well("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it was right all the time");
    until_left_out(&faults, "configmaps", "bad", false).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn a_parent_that_cannot_be_read_loses_no_child_and_hides_no_other_across_a_restart() {
    let faults = Faults::start().await;
    for name in ["bad", "good"] {
        faults.world.apply(RECIPE, recipe(name, &[config_map(name, json!({}))])).await;
        faults.until_well(name).await;
    }
    let child = faults.world.get(CONFIG_MAP, "bad").await;
    let broken = faults.add(Rule::new(undecodable()).resource("recipes").name("bad"));
    let faults = faults.restart().await;
    until_counted(&faults, "recipes.test.operetta.dev").await;
    until_told(&faults, "bad", "bad", WITHOUT_UID).await;
    faults.until_shown("bad", WITHOUT_UID).await;
    until_left_out(&faults, "recipes.test.operetta.dev", "bad", true).await;
    let more = recipe("good", &[config_map("good", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, more).await;
    faults.until_well("good").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, child);
    broken.end();
    let mended = recipe("bad", &[config_map("bad", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, mended).await;
    faults.until_well("bad").await;
    let now = faults.world.get(CONFIG_MAP, "bad").await;
    assert_eq!(now["metadata"]["uid"], child["metadata"]["uid"]);
    assert_eq!(now["data"]["salt"], "much");
    until_left_out(&faults, "recipes.test.operetta.dev", "bad", false).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn whatever_of_a_child_cannot_be_read_is_told_of_its_parent_without_content() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("bad", json!({}))])).await;
    faults.until_well("r").await;
    for (field, value, why) in [
        ("uid", json!(""), WITHOUT_UID),
        ("generation", json!("hidden"), "cannot be decoded and is ignored: "),
        ("resourceVersion", json!({"hidden": 1}), "cannot be decoded and is ignored: "),
        ("ownerReferences", json!("hidden"), "cannot be decoded and is ignored: "),
        ("ownerReferences", json!([{"uid": 7, "controller": "hidden"}]), "cannot be read"),
    ] {
        let broken = Rule::new(garbage(field, value)).resource("configmaps").name("bad");
        let broken = faults.add(broken);
        let note = json!({"metadata": {"annotations": {"broken": field}}});
        faults.world.patch(CONFIG_MAP, "bad", note).await;
        until_left_out(&faults, "configmaps", "bad", true).await;
        until_told(&faults, "r", "bad", why).await;
        broken.end();
        let note = json!({"metadata": {"annotations": {"broken": "nothing"}}});
        faults.world.patch(CONFIG_MAP, "bad", note).await;
        until_left_out(&faults, "configmaps", "bad", false).await;
        faults.until_well("r").await;
    }
    let (_, shown) = faults.operators.http("/api/v1/cache/configmaps").await;
    for event in faults.world.list(EVENT).await {
        assert!(!event["note"].to_string().contains("hidden"), "{event}");
    }
    assert!(!shown.contains("hidden"), "{shown}");
    faults.end().await;
}

#[operetta_harness::test]
async fn a_version_that_cannot_be_read_is_told_once_however_often_it_is_listed() {
    let faults = Faults::start().await;
    let children = ["bad", "good"].map(|name| config_map(name, json!({})));
    faults.world.apply(RECIPE, recipe("r", &children)).await;
    faults.until_well("r").await;
    faults.add(Rule::new(undecodable()).resource("configmaps").name("bad"));
    let change = async |name: &str, to: u32| {
        let note = json!({"metadata": {"annotations": {"version": to.to_string()}}});
        faults.world.patch(CONFIG_MAP, name, note).await;
    };
    change("bad", 1).await;
    until_told(&faults, "r", "bad", WITHOUT_UID).await;
    let rule = Rule::new(Fault::ExpireWatch).verb("watch").resource("configmaps").name("good");
    let expired = faults.add(rule.times(1));
    change("good", 1).await;
    until_hits(&expired, 1).await;
    let is_listed_again = |cache: &Value| cache["undecodableEvents"].as_u64() >= Some(2);
    let shown = || cache(&faults, "configmaps");
    eventually("the object listed again", shown, is_listed_again).await;
    change("bad", 2).await;
    let told = || until_told(&faults, "r", "bad", WITHOUT_UID);
    let is_counted = |event: &Value| !event["series"].is_null();
    let event = eventually("the other version", told, is_counted).await;
    assert_eq!(event["series"]["count"], 2, "once for each version: {event}");
    faults.end().await;
}

#[operetta_harness::test]
async fn the_end_of_a_child_that_cannot_be_read_is_noticed() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_well("r").await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    faults.add(Rule::new(undecodable()).verb("watch").resource("configmaps").name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    let is_back =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    faults.world.until(CONFIG_MAP, "c", "the child again", is_back).await;
    faults.until_well("r").await;
    until_counted(&faults, "configmaps").await;
    faults.end().await;
}

#[operetta_harness::test]
async fn nothing_is_deleted_while_a_child_cannot_be_read_and_it_is_looked_at_again() {
    let faults = Faults::start().await;
    let (world, bad) = (&faults.world, config_map("bad", json!({})));
    world.apply(RECIPE, recipe("r", &[bad.clone(), config_map("good", json!({}))])).await;
    faults.until_well("r").await;
    let broken = faults.add(Rule::new(undecodable()).resource("configmaps").name("bad"));
    let note = json!({"metadata": {"annotations": {"version": "1"}}});
    let changed = world.patch(CONFIG_MAP, "bad", note).await;
    faults.until_said("r", "ConfigMap.v1").await;
    world.apply(RECIPE, recipe("r", &[bad])).await;
    let is_said = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["observedGeneration"] == parent["metadata"]["generation"]
            && ready["message"].as_str().unwrap_or_default().contains("`metadata.uid` is missing")
    };
    world.until(RECIPE, "r", "that the new spec was tried", is_said).await;
    assert!(world.get(CONFIG_MAP, "good").await.is_object(), "nothing is deleted");
    broken.end();
    // No event comes: it is the reconcile that looks.
    world.until(CONFIG_MAP, "good", "the deletion", Value::is_null).await;
    faults.until_well("r").await;
    assert_eq!(world.get(CONFIG_MAP, "bad").await, changed, "it was right all the time");
    until_left_out(&faults, "configmaps", "bad", false).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn nothing_is_done_for_a_parent_that_cannot_be_read_until_it_can() {
    let faults = Faults::start().await;
    let (world, namespace) = (&faults.world, faults.world.namespace.clone());
    let with = |salt: &str| recipe("r", &[config_map("c", json!({"salt": salt}))]);
    world.apply(RECIPE, with("old")).await;
    faults.until_well("r").await;
    let broken = faults.add(Rule::new(undecodable()).resource("recipes").name("r"));
    world.apply(RECIPE, with("new")).await;
    until_told(&faults, "r", "r", WITHOUT_UID).await;
    faults.until_shown("r", "`metadata.uid` is missing").await;
    world.delete(CONFIG_MAP, "c").await;
    let runs = faults.operators.runs("cook", &namespace, "r");
    faults.operators.until_reconciles("cook", &namespace, "r", runs + 2).await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null(), "what the old parent wanted");
    broken.end();
    let is_new = |child: &Value| child["data"]["salt"] == "new";
    world.until(CONFIG_MAP, "c", "what the new parent wants", is_new).await;
    faults.until_well("r").await;
    faults.end().await;
}
