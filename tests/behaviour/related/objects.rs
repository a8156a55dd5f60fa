//! A related object appears, changes and disappears; exactly those are woken that asked for it.

use super::*;

#[operetta_harness::test]
async fn a_parent_follows_an_object_that_appears_changes_and_disappears() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"]}))).await;
    until_seen(&world, "r", "").await;
    world.apply(SECRET, secret("ca", &["a"])).await;
    until_seen(&world, "r", "ca=a").await;
    world.apply(SECRET, secret("ca", &["a", "b"])).await;
    until_seen(&world, "r", "ca=a,b").await;
    operators.until_synced(READER, &world.namespace, "r").await;
    let shown = shown(&world, &operators, "r").await;
    let related = json!([{
        "apiVersion": "v1", "kind": "Secret", "which": format!("{}/ca", world.namespace), "found": 1,
    }]);
    assert_eq!(shown["related"], related);
    let causes =
        shown["history"].as_array().unwrap().iter().filter_map(|it| it["causes"].as_array());
    let changed = causes.flatten().find(|cause| cause["reason"] == "RelatedChanged").unwrap();
    assert!(changed["message"].as_str().unwrap().starts_with("related Secret.v1 "), "{changed}");
    world.delete(SECRET, "ca").await;
    until_seen(&world, "r", "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn only_the_parents_that_asked_are_reconciled() {
    let world = World::new().await;
    let operators = world.start(register).await;
    for (name, spec) in [
        ("first", json!({"secrets": ["one"]})),
        ("second", json!({"secrets": ["two"]})),
        ("third", json!({})),
    ] {
        world.apply(RECIPE, reading(name, spec)).await;
        until_seen(&world, name, "").await;
    }
    operators.settled().await;
    let reconciles = |name| operators.reconciles(READER, &world.namespace, name);
    let before = ["second", "third"].map(reconciles);
    world.apply(SECRET, secret("one", &["a"])).await;
    until_seen(&world, "first", "one=a").await;
    operators.settled().await;
    assert_eq!(["second", "third"].map(reconciles), before);
    operators.stop().await;
}

#[operetta_harness::test]
async fn what_nobody_asks_for_any_more_is_dropped() {
    let world = World::new().await;
    let operators = world.start(register).await;
    for name in ["one", "two", "three"] {
        world.apply(SECRET, secret(name, &["a"])).await;
    }
    world.apply(RECIPE, reading("r", json!({"secrets": ["one", "two"]}))).await;
    world.apply(RECIPE, reading("s", json!({"secrets": ["two"]}))).await;
    until_seen(&world, "r", "one=a two=a").await;
    until_seen(&world, "s", "two=a").await;
    until_cached(&operators, "secrets", 2).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["two"]}))).await;
    until_seen(&world, "r", "two=a").await;
    until_cached(&operators, "secrets", 1).await;
    world.delete(RECIPE, "r").await;
    world.delete(RECIPE, "s").await;
    until_cached(&operators, "secrets", 0).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_restart_over_parents_that_are_up_to_date_writes_nothing() {
    let world = World::that_logs_requests().await;
    let operators = world.start(register).await;
    for number in 0..30 {
        let name = format!("r{number}");
        world.apply(SECRET, secret(&name, &["a"])).await;
        world.apply(RECIPE, reading(&name, json!({"secrets": [name]}))).await;
    }
    for number in 0..30 {
        until_seen(&world, &format!("r{number}"), &format!("r{number}=a")).await;
    }
    operators.until_all_synced(30).await;
    operators.settled().await;
    operators.stop().await;
    let before = world.our_requests().await.len();
    let operators = world.start(register).await;
    operators.until_all_synced(30).await;
    operators.settled().await;
    let mut writes = world.our_requests().await.split_off(before);
    writes.retain(crate::cluster::Request::is_write);
    assert!(writes.is_empty(), "{writes:#?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn related_objects_are_read_before_a_parent_is_finalized() {
    fn finalize(request: &SyncRequest) -> Result<FinalizeResponse> {
        let has_credentials = request.related_object::<Secret>("credentials")?.is_some();
        Ok(if has_credentials { FinalizeResponse::done() } else { FinalizeResponse::wait() })
    }
    let world = World::new().await;
    let handler = with_related(with_finalizer(sync, finalize), related);
    let operators = world.start(|builder| builder.register(config(), handler)).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["credentials"]}))).await;
    until_seen(&world, "r", "").await;
    world.delete(RECIPE, "r").await;
    let is_waiting = |parent: &Value| parent["status"].to_string().contains("still finalizing");
    world.until(RECIPE, "r", "the finalizer waits", is_waiting).await;
    world.apply(SECRET, secret("credentials", &["a"])).await;
    world.until(RECIPE, "r", "no parent", Value::is_null).await;
    operators.stop().await;
}
