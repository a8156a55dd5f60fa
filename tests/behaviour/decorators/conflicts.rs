//! Labels and annotations that others own.

use super::*;
use crate::world::EVENT;

async fn own_by_hand(world: &World, value: Value) {
    world.patch(DEPLOYMENT, "d", json!({"metadata": {"labels": {LABEL: value}}})).await;
}

#[operetta_harness::test(server)]
async fn a_label_that_another_manager_owns_is_a_conflict_and_stays() {
    let world = World::new().await;
    deployment(&world, "d", None).await;
    own_by_hand(&world, json!("red")).await;
    let operators = start(&world).await;
    decorate(&world, "d", everything()).await;
    let label = format!(".metadata.labels.{LABEL}");
    until_failing(&world, &operators, &[&label, "`by-hand`"]).await;
    let is_reported = |events: &Vec<Value>| {
        events.iter().any(|event| {
            event["reason"] == "Conflict" && event["note"].to_string().contains(&label)
        })
    };
    eventually("an Event", || world.list(EVENT), is_reported).await;
    world.until(CONFIG_MAP, "extra", "the child is there all the same", Value::is_object).await;
    let now = world.get(DEPLOYMENT, "d").await;
    assert_eq!(now["metadata"]["labels"][LABEL], "red");
    assert_eq!(now["metadata"]["annotations"].get(NOTE), None, "all or nothing");

    own_by_hand(&world, Value::Null).await;
    until_decorated(&world, "d").await;
    // It is left to a manager that changes it later, too.
    own_by_hand(&world, json!("red")).await;
    until_failing(&world, &operators, &["`by-hand`"]).await;
    assert_eq!(world.get(DEPLOYMENT, "d").await["metadata"]["labels"][LABEL], "red");
    // What is not in conflict goes with the decorator when it leaves.
    decorate(&world, "d", Value::Null).await;
    let is_left = |deployment: &Value| {
        let metadata = &deployment["metadata"];
        metadata["annotations"].get(NOTE).is_none() && metadata["labels"][LABEL] == "red"
    };
    world.until(DEPLOYMENT, "d", "its annotation removed", is_left).await;
    operators.stop().await;
}
