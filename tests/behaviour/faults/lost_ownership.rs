//! Interference by others: removed owner references and deleted namespaces.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    reported::ExpectedFailure,
    world::NAMESPACE,
};

#[operetta_harness::test(server)]
async fn a_child_without_its_owner_reference_is_not_modified_and_that_is_reported() {
    let faults = Faults::start().await;
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_settled("r").await;
    let owned = world.get(CONFIG_MAP, "c").await;
    let strip = json!({"metadata": {"ownerReferences": null}, "data": {"salt": "mine"}});
    let failure = ExpectedFailure::before(world, &faults.operators, "cook", "Conflict").await;
    let stripped = world.patch(CONFIG_MAP, "c", strip).await;
    failure.until_reported("r", "already exists and is not owned by").await;
    // It is not deleted either when it is no longer desired.
    world.apply(RECIPE, recipe("r", &[config_map("d", json!({}))])).await;
    faults.until_settled("r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, stripped);
    // With the owner reference it is repaired again.
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_not_ready("r", "already exists and is not owned by").await;
    let owners = &owned["metadata"]["ownerReferences"];
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"ownerReferences": owners}})).await;
    faults.until_settled("r").await;
    let repaired = world.get(CONFIG_MAP, "c").await;
    assert_eq!(repaired["data"]["salt"], "much");
    assert_eq!(repaired["metadata"]["uid"], owned["metadata"]["uid"]);
    faults.end().await;
}

#[operetta_harness::test(server)]
async fn a_deleted_namespace_is_reported_with_one_request_per_reconcile() {
    let faults = Faults::start().await;
    let world = &faults.world;
    let terminating = "configmaps \"c\" is forbidden: unable to create new content in namespace \
                       test because it is being terminated";
    let refusal = Fault::Refuse(Refusal::new(403).message(terminating));
    let rule = Rule::new(refusal).verb("patch").resource("configmaps").name("c");
    let refused = faults.add(rule);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_not_ready("r", "because it is being terminated").await;
    until_hits(&refused, 3).await;
    // In this order: one reconcile may be in progress, and others end meanwhile.
    let hits = refused.hits();
    let reconciles = faults.operators.reconciles("cook", &world.namespace, "r");
    let reconciles = usize::try_from(reconciles).unwrap();
    assert!(hits <= reconciles + 1, "one request a reconcile: {hits} in {reconciles}");
    refused.end();
    faults.until_settled("r").await;
    // After the real deletion of the namespace the parent is no longer shown.
    world.delete(NAMESPACE, &world.namespace).await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let is_forgotten = |(code, _): &(u16, String)| *code == 404;
    eventually("the parent forgotten", || faults.operators.http(&path), is_forgotten).await;
    world.until(NAMESPACE, &world.namespace, "the namespace gone", Value::is_null).await;
    assert_eq!(faults.operators.http("/readyz/cook").await.0, 200);
    faults.operators.stop().await;
}
