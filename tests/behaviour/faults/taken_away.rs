//! What others do to our objects: owner references taken off, namespaces deleted.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    told::Trouble,
    world::NAMESPACE,
};

#[operetta_harness::test]
async fn a_child_whose_owner_reference_was_taken_off_is_left_alone_and_that_is_said() {
    let faults = Faults::start().await;
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_well("r").await;
    let owned = world.get(CONFIG_MAP, "c").await;
    let strip = json!({"metadata": {"ownerReferences": null}, "data": {"salt": "mine"}});
    let trouble = Trouble::ahead(world, &faults.operators, "cook", "Conflict").await;
    let stripped = world.patch(CONFIG_MAP, "c", strip).await;
    trouble.until_told("r", "already exists and is not owned by").await;
    // Not even when nobody wants it any more.
    world.apply(RECIPE, recipe("r", &[config_map("d", json!({}))])).await;
    faults.until_well("r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, stripped);
    // Who gives it back gets it repaired.
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_said("r", "already exists and is not owned by").await;
    let owners = &owned["metadata"]["ownerReferences"];
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"ownerReferences": owners}})).await;
    faults.until_well("r").await;
    let repaired = world.get(CONFIG_MAP, "c").await;
    assert_eq!(repaired["data"]["salt"], "much");
    assert_eq!(repaired["metadata"]["uid"], owned["metadata"]["uid"]);
    faults.end().await;
}

#[operetta_harness::test]
async fn a_namespace_that_is_deleted_under_a_parent_is_said_without_a_storm() {
    let faults = Faults::start().await;
    let world = &faults.world;
    let terminating = "configmaps \"c\" is forbidden: unable to create new content in namespace \
                       test because it is being terminated";
    let refusal = Fault::Refuse(Refusal::new(403).message(terminating));
    let rule = Rule::new(refusal).verb("patch").resource("configmaps").name("c");
    let refused = faults.add(rule);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_said("r", "because it is being terminated").await;
    until_hits(&refused, 3).await;
    let runs = faults.operators.runs("cook", &world.namespace, "r");
    let (hits, runs) = (refused.hits(), usize::try_from(runs).unwrap());
    assert!(hits <= runs + 1, "one request a reconcile: {hits} in {runs}");
    refused.end();
    faults.until_well("r").await;
    // And really: all goes, and is forgotten.
    world.delete(NAMESPACE, &world.namespace).await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let is_forgotten = |(code, _): &(u16, String)| *code == 404;
    eventually("the parent forgotten", || faults.operators.http(&path), is_forgotten).await;
    world.until(NAMESPACE, &world.namespace, "the namespace gone", Value::is_null).await;
    assert_eq!(faults.operators.http("/readyz/cook").await.0, 200);
    faults.operators.stop().await;
}
