//! Late deletions: changes of a child or its parent between the decision and the request.

use super::{watches::with_child, *};
use crate::{
    recipe::recipe,
    world::{POD, SECRET},
};

/// Changes the parent and holds the resulting deletion of a child.
async fn deleting(faults: &Faults, resource: &str, wanted: &[Value]) -> Armed {
    let held = Rule::new(Fault::HoldRequest).verb("delete").resource(resource).times(1);
    let held = faults.add(held);
    faults.world.apply(RECIPE, recipe("r", wanted)).await;
    until_hits(&held, 1).await;
    held
}

#[operetta_harness::test]
async fn a_child_that_is_edited_before_its_deletion_arrives_is_deleted_without_an_error() {
    let (faults, _) = with_child().await;
    let held = deleting(&faults, "configmaps", &[]).await;
    faults.world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "by another"}})).await;
    held.end();
    faults.until_settled("r").await;
    assert!(faults.world.get(CONFIG_MAP, "c").await.is_null());
    assert_eq!(faults.failures("r"), Vec::<String>::new());
    faults.end().await;
}

#[operetta_harness::test]
async fn a_child_that_loses_its_owner_before_its_deletion_arrives_stays_without_an_error() {
    let (faults, _) = with_child().await;
    let held = deleting(&faults, "configmaps", &[]).await;
    let without_owner = json!({"metadata": {"ownerReferences": null}});
    let child = faults.world.patch(CONFIG_MAP, "c", without_owner).await;
    held.end();
    faults.until_settled("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await, child);
    assert_eq!(faults.failures("r"), Vec::<String>::new());
    faults.end().await;
}

fn pod(image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "main", "image": image}]}})
}

#[operetta_harness::test]
async fn a_pod_that_is_fixed_before_its_recreation_stays_without_an_error() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[pod("soup:1")])).await;
    faults.until_settled("r").await;
    let held = deleting(&faults, "pods", &[pod("soup:2")]).await;
    let mut spec = json!({"containers": faults.world.get(POD, "p").await["spec"]["containers"]});
    spec["containers"][0]["image"] = json!("soup:2");
    let fixed = faults.world.patch(POD, "p", json!({"spec": spec})).await;
    held.end();
    faults.until_settled("r").await;
    assert_eq!(faults.world.get(POD, "p").await["metadata"]["uid"], fixed["metadata"]["uid"]);
    assert_eq!(faults.failures("r"), Vec::<String>::new());
    faults.end().await;
}

// === children that cannot be rebuilt ===

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "stringData": {"spice": "saffron"}})
}

/// The Secret of a parent is no longer desired, and the live read of the parent is held.
async fn unwanted() -> (Faults, Value, Armed) {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[secret()])).await;
    faults.until_settled("r").await;
    let held = Rule::new(Fault::HoldRequest).verb("get").resource("recipes").name("r");
    let held = faults.add(held.times(1));
    faults.world.apply(RECIPE, recipe("r", &[])).await;
    until_hits(&held, 1).await;
    let secret = faults.world.get(SECRET, "s").await;
    (faults, secret, held)
}

/// Asserts that the Secret is unchanged and no deletion was sent.
async fn assert_not_modified(faults: &Faults, secret: &Value) {
    assert_eq!(faults.world.get(SECRET, "s").await, *secret);
    assert_eq!(faults.writes("secrets", "s"), 1, "the one that created it");
}

#[operetta_harness::test]
async fn an_undesired_secret_is_deleted_after_a_live_read_of_its_parent() {
    let (faults, _, held) = unwanted().await;
    held.end();
    faults.until_settled("r").await;
    assert!(faults.world.get(SECRET, "s").await.is_null());
    faults.end().await;
}

#[operetta_harness::test]
async fn a_secret_that_is_desired_again_before_its_deletion_stays() {
    let (faults, before, held) = unwanted().await;
    faults.world.apply(RECIPE, recipe("r", &[secret()])).await;
    held.end();
    faults.until_settled("r").await;
    assert_not_modified(&faults, &before).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn a_secret_that_loses_its_owner_before_its_deletion_stays() {
    let (faults, _, held) = unwanted().await;
    let without_owner = json!({"metadata": {"ownerReferences": null}});
    let disowned = faults.world.patch(SECRET, "s", without_owner).await;
    held.end();
    faults.until_settled("r").await;
    assert_not_modified(&faults, &disowned).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn a_secret_is_not_deleted_when_its_parent_was_recreated() {
    let (faults, _, held) = unwanted().await;
    let world = &faults.world;
    let without_owner = json!({"metadata": {"ownerReferences": null}});
    world.patch(SECRET, "s", without_owner).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the first parent gone", Value::is_null).await;
    let second = world.create(RECIPE, recipe("r", &[secret()])).await;
    let owner = json!({"apiVersion": RECIPE.0, "kind": RECIPE.1, "name": "r", "controller": true,
        "blockOwnerDeletion": true, "uid": second["metadata"]["uid"]});
    let of_second = json!({"metadata": {"ownerReferences": [owner]}});
    let secret = world.patch(SECRET, "s", of_second).await;
    held.end();
    faults.until_settled("r").await;
    let now = world.get(SECRET, "s").await;
    assert_eq!(now["metadata"]["uid"], secret["metadata"]["uid"]);
    assert_eq!(now["data"], secret["data"]);
    faults.end().await;
}
