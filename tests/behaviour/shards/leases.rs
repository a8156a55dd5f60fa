//! The Leases of a group.

use serde_json::{Value, json};

use super::{create_parents, process, until_all_ready, until_shared};
use crate::world::{LEASE, World, eventually};

#[operetta_harness::test(server)]
async fn a_member_has_a_lease_that_says_what_it_holds_until_it_has_left() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_shared(&[&first]).await;
    let lease = world.get(LEASE, "cooks-first").await;
    assert_eq!(lease["metadata"]["labels"], json!({"operetta.dev/shard-group": "cooks"}));
    assert_eq!(lease["spec"]["holderIdentity"], "cooks-first");
    let said = |lease: &Value| -> Value {
        let text = lease["metadata"]["annotations"]["operetta.dev/shard"].as_str().unwrap();
        serde_json::from_str(text).unwrap()
    };
    assert_eq!(said(&lease)["holds"], "0-63");
    first.stop().await;
    let lease = world.get(LEASE, "cooks-first").await;
    assert_eq!(
        (&lease["spec"]["holderIdentity"], &said(&lease)["holds"]),
        (&Value::Null, &json!(""))
    );
}

#[operetta_harness::test(server)]
async fn a_lease_that_is_deleted_or_edited_by_hand_comes_back_and_nobody_else_takes_over() {
    let world = World::new().await;
    let (first, second) =
        futures::future::join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    let said = world.get(LEASE, "cooks-first").await["metadata"]["annotations"].clone();
    world.delete(LEASE, "cooks-first").await;
    let lease = || async { world.get(LEASE, "cooks-first").await };
    eventually("the Lease", lease, |lease| lease["spec"]["holderIdentity"] == "cooks-first").await;
    world.patch(LEASE, "cooks-first", json!({"metadata": {"annotations": null}})).await;
    let is_back = |lease: &Value| !lease["metadata"]["annotations"]["operetta.dev/shard"].is_null();
    let lease = eventually("the annotation", lease, is_back).await;
    let holds = |annotations: &Value| -> Value {
        let text = annotations["operetta.dev/shard"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["holds"].clone()
    };
    assert_eq!(holds(&lease["metadata"]["annotations"]), holds(&said), "it holds what it held");
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    first.stop().await;
    second.stop().await;
}

/// Nothing shows it the caches again, which are as they were.
#[operetta_harness::test(server)]
async fn a_member_that_panicked_works_again() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_shared(&[&first]).await;
    let member = format!("the member {}/cooks-first of a group", world.namespace);
    first.running().board().let_panic(&member, 1);
    let restarts = || async {
        let (_, body) = first.http("/api/v1/operators/cook").await;
        serde_json::from_str::<Value>(&body).unwrap()["restarts"]["count"].clone()
    };
    eventually("the restart", restarts, |count| *count == 1).await;
    until_shared(&[&first]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    first.stop().await;
}
