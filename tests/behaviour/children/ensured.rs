//! Children that are created when they are missing, and otherwise left as they are.

use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, Operators, SECRET, World, condition, eventually, is_ready},
};

/// Ensures a Secret with another password each time for each name in `spec.ensured`, and returns
/// `spec.children`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let spec = request.parent.field("spec").unwrap_or_default();
    let list = |name: &str| spec[name].as_array().cloned().unwrap_or_default();
    let response = SyncResponse::status(json!({})).children(list("children"));
    Ok(list("ensured").iter().fold(response, |response, name| {
        let password = format!("password-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        response.ensure(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "labels": {"made": password}},
            "stringData": {"password": password},
        }))
    }))
}

fn config(secrets: ChildConfig) -> OperatorConfig {
    OperatorConfig::new("cook", K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(secrets)
}

async fn start(world: &World, secrets: ChildConfig) -> Operators {
    world.start(|builder| builder.register(config(secrets), sync)).await
}

fn ensuring(names: &[&str], children: &[Value]) -> Value {
    let mut parent = recipe("r", children);
    parent["spec"]["ensured"] = json!(names);
    parent
}

/// Changes the parent in a way that the handler does not see, and waits until it is reconciled.
async fn reconcile_again(world: &World, mark: &str) {
    world.patch(RECIPE, "r", json!({"spec": {"mark": mark}})).await;
    world.until_ready(RECIPE, "r").await;
}

#[operetta_harness::test]
async fn an_ensured_child_keeps_what_it_was_created_with_and_what_others_make_of_it() {
    let world = World::that_logs_requests().await;
    let operators = start(&world, ChildConfig::apply()).await;
    let parent = world.apply(RECIPE, ensuring(&["s"], &[])).await;
    world.until_ready(RECIPE, "r").await;
    let created = world.get(SECRET, "s").await;
    assert!(created["data"]["password"].is_string());
    assert_eq!(created["metadata"]["ownerReferences"][0]["uid"], parent["metadata"]["uid"]);
    for mark in ["a", "b", "c", "d"] {
        reconcile_again(&world, mark).await;
    }
    operators.settled().await;
    assert_eq!(world.get(SECRET, "s").await, created);
    // Others edit it.
    let theirs =
        json!({"data": {"password": "bWluZQ=="}, "metadata": {"labels": {"made": "mine"}}});
    let edited = world.patch(SECRET, "s", theirs).await;
    reconcile_again(&world, "e").await;
    operators.settled().await;
    assert_eq!(world.get(SECRET, "s").await, edited);
    let parent = world.get(RECIPE, "r").await;
    assert!(condition(&parent, "Flapping").is_null(), "{parent}");
    // The preview says so, once no reconcile is in progress.
    let path = format!("/api/v1/operators/cook/parents/{}/r?diff=1", world.namespace);
    let action = || async {
        let shown: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
        shown["children"][0]["preview"]["action"].clone()
    };
    eventually("the preview", action, |action| action == "Keep").await;
    operators.stop().await;
    // A new process writes nothing.
    let before = world.our_requests().await.len();
    let operators = start(&world, ChildConfig::apply()).await;
    operators.until_synced("cook", &world.namespace, "r").await;
    operators.settled().await;
    let mut written = world.our_requests().await.split_off(before);
    written.retain(crate::cluster::Request::is_write);
    assert_eq!(written, []);
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_labels_of_an_ensured_child_are_repaired_and_its_content_is_kept() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::recreate()).await;
    world.apply(RECIPE, ensuring(&["s"], &[])).await;
    world.until_ready(RECIPE, "r").await;
    let created = world.get(SECRET, "s").await;
    let stripped = json!({"metadata": {"labels": {
        "operetta.dev/parent-uid": null, "app.kubernetes.io/managed-by": null,
    }}});
    let edited = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "somebody"}},
        "data": {"more": "bWluZQ=="}});
    for patch in [stripped, edited] {
        let before = world.patch(SECRET, "s", patch).await;
        let is_repaired = |now: &Value| now["metadata"]["labels"] == created["metadata"]["labels"];
        let repaired = world.until(SECRET, "s", "its labels again", is_repaired).await;
        assert_eq!(repaired["data"], before["data"]);
        assert_eq!(repaired["data"]["password"], created["data"]["password"]);
        for field in ["uid", "ownerReferences"] {
            assert_eq!(repaired["metadata"][field], created["metadata"][field]);
        }
    }
    operators.until_synced("cook", &world.namespace, "r").await;
    // What was repaired is still owned: it goes when it is no longer returned.
    world.apply(RECIPE, ensuring(&[], &[])).await;
    world.until(SECRET, "s", "its end", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_ensured_child_is_created_again_when_it_was_deleted_and_goes_with_its_parent() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::on_delete()).await;
    world.apply(RECIPE, ensuring(&["s"], &[])).await;
    world.until_ready(RECIPE, "r").await;
    let first = world.get(SECRET, "s").await;
    world.delete(SECRET, "s").await;
    let is_new =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != first["metadata"]["uid"];
    let second = world.until(SECRET, "s", "another one", is_new).await;
    assert_ne!(second["data"]["password"], first["data"]["password"]);
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(SECRET, "s", "its end", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_foreign_object_in_the_place_of_an_ensured_child_is_reported_or_adopted_as_it_is() {
    let world = World::new().await;
    let theirs = json!({"metadata": {"name": "s"}, "data": {"password": "b2xk"}});
    let foreign = world.apply(SECRET, theirs).await;
    let operators = start(&world, ChildConfig::apply()).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "Conflict").await;
    world.apply(RECIPE, ensuring(&["s"], &[])).await;
    failure.until_reported("r", "already exists and is not owned by").await;
    assert_eq!(world.get(SECRET, "s").await, foreign);
    operators.stop().await;

    let operators = start(&world, ChildConfig::apply().adopting()).await;
    world.until(RECIPE, "r", "that it is ready", is_ready).await;
    let adopted = world.get(SECRET, "s").await;
    assert_eq!(adopted["metadata"]["uid"], foreign["metadata"]["uid"]);
    assert_eq!(adopted["data"], foreign["data"]);
    assert_eq!(adopted["metadata"]["labels"]["app.kubernetes.io/managed-by"], "cook");
    assert!(adopted["metadata"]["labels"]["made"].is_null(), "{adopted}");
    for mark in ["a", "b"] {
        reconcile_again(&world, mark).await;
    }
    operators.settled().await;
    assert_eq!(world.get(SECRET, "s").await, adopted);
    // An object without its owner reference is nobody's, and is adopted again.
    world.patch(SECRET, "s", json!({"metadata": {"ownerReferences": null}})).await;
    let is_owned = |now: &Value| now["metadata"]["ownerReferences"].is_array();
    let again = world.until(SECRET, "s", "its owner", is_owned).await;
    assert_eq!(again["data"], foreign["data"]);
    world.apply(RECIPE, ensuring(&[], &[])).await;
    world.until(SECRET, "s", "its end", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_ensured_child_without_its_owner_reference_is_a_conflict() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    world.apply(RECIPE, ensuring(&["s"], &[])).await;
    world.until_ready(RECIPE, "r").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "Conflict").await;
    let owned = world.get(SECRET, "s").await;
    let stripped = world.patch(SECRET, "s", json!({"metadata": {"ownerReferences": null}})).await;
    failure.until_reported("r", "already exists and is not owned by").await;
    assert_eq!(world.get(SECRET, "s").await, stripped);
    let owners = &owned["metadata"]["ownerReferences"];
    world.patch(SECRET, "s", json!({"metadata": {"ownerReferences": owners}})).await;
    world.until(RECIPE, "r", "that it is ready", is_ready).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_that_is_both_ensured_and_returned_is_refused_and_nothing_is_written() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "InvalidChildren").await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    world.apply(RECIPE, ensuring(&["s"], &[secret, config_map("c", json!({}))])).await;
    let name = format!("Secret.v1 {}/s", world.namespace);
    let words = format!("{name}: it is returned twice, by `child` and by `ensure`");
    failure.until_reported("r", &words).await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null() && world.get(SECRET, "s").await.is_null());
    operators.stop().await;
}
