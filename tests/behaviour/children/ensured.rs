//! Children that are created when they are missing, and otherwise left as they are.

use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::core::v1::Secret;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, recipe},
    world::{Operators, SECRET, World, condition, eventually},
};

/// Ensures a Secret with another password each time for each name in `spec.ensured`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let spec = request.parent.field("spec").unwrap_or_default();
    let names = spec["ensured"].as_array().into_iter().flatten();
    Ok(names.fold(SyncResponse::status(json!({})), |response, name| {
        let password = format!("password-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        response.ensure(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "labels": {"made": password}},
            "stringData": {"password": password},
        }))
    }))
}

async fn start(world: &World) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Secret>(ChildConfig::apply());
    world.start(|builder| builder.register(config, sync)).await
}

fn ensuring(names: &[&str]) -> Value {
    let mut parent = recipe("r", &[]);
    parent["spec"]["ensured"] = json!(names);
    parent
}

/// Changes the parent in a way that the handler does not see, and waits until it is reconciled.
async fn reconcile_again(world: &World, mark: &str) {
    world.patch(RECIPE, "r", json!({"spec": {"mark": mark}})).await;
    world.until_ready(RECIPE, "r").await;
}

#[operetta_harness::test(server)]
async fn an_ensured_child_keeps_what_it_was_created_with_and_what_others_make_of_it() {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let parent = world.apply(RECIPE, ensuring(&["s"])).await;
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
    // The labels that others took off are restored, and nothing else.
    let stripped = json!({"metadata": {"labels": {
        "operetta.dev/parent-uid": null, "app.kubernetes.io/managed-by": null,
    }}});
    world.patch(SECRET, "s", stripped).await;
    let is_repaired = |now: &Value| now["metadata"]["labels"] == edited["metadata"]["labels"];
    let repaired = world.until(SECRET, "s", "its labels again", is_repaired).await;
    assert_eq!(repaired["data"], edited["data"]);
    operators.until_synced("cook", &world.namespace, "r").await;
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
    let operators = start(&world).await;
    operators.until_synced("cook", &world.namespace, "r").await;
    operators.settled().await;
    let mut written = world.our_requests().await.split_off(before);
    written.retain(crate::cluster::Request::is_write);
    assert_eq!(written, []);
    // What was repaired is still owned: it goes when it is no longer returned.
    world.apply(RECIPE, ensuring(&[])).await;
    world.until(SECRET, "s", "its end", Value::is_null).await;
    operators.stop().await;
}
