//! Objects that are deleted and created again while a write is on its way.

use super::*;
use crate::recipe::{config_map, recipe};

fn salted(salt: &str) -> Value {
    recipe("r", &[config_map("c", json!({"salt": salt}))])
}

#[operetta_harness::test(server)]
async fn a_parent_created_again_while_a_child_is_written_gets_a_child_of_its_own() {
    let faults = Faults::start().await;
    let world = &faults.world;
    let held = Rule::new(Fault::HoldReply).verb("patch").resource("configmaps").name("c");
    let held = faults.add(held.times(1));
    world.create(RECIPE, salted("old")).await;
    until_hits(&held, 1).await;
    world.until(CONFIG_MAP, "c", "the child of the first", Value::is_object).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the first gone", Value::is_null).await;
    let second = world.create(RECIPE, salted("new")).await;
    held.end();
    let is_of_second =
        |child: &Value| child["metadata"]["ownerReferences"][0]["uid"] == second["metadata"]["uid"];
    let child = world.until(CONFIG_MAP, "c", "a child of the second", is_of_second).await;
    assert_eq!(child["data"]["salt"], "new");
    let parent = faults.until_settled("r").await;
    assert_eq!(parent["metadata"]["uid"], second["metadata"]["uid"]);
    faults.end().await;
}

/// A parent whose handler returns this condition, which stays among the others.
fn with_condition(condition: &str) -> Value {
    let mut parent = recipe("r", &[]);
    let conditions = json!([{"type": condition, "status": "True"}]);
    parent["spec"]["status"] = json!({"taste": condition, "conditions": conditions});
    parent
}

#[operetta_harness::test(server)]
async fn the_status_of_a_parent_is_never_written_to_a_new_parent_of_its_name() {
    let faults = Faults::start().await;
    let world = &faults.world;
    let held = Rule::new(Fault::HoldRequest).verb("patch").resource("recipes/status").name("r");
    let held = faults.add(held.times(1));
    world.create(RECIPE, with_condition("First")).await;
    until_hits(&held, 1).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the first gone", Value::is_null).await;
    let second = world.create(RECIPE, with_condition("Second")).await;
    held.end();
    let parent = faults.until_settled("r").await;
    assert_eq!(parent["metadata"]["uid"], second["metadata"]["uid"]);
    assert_eq!(parent["status"]["taste"], "Second");
    assert!(condition(&parent, "First").is_null(), "{parent}");
    faults.end().await;
}

/// Replaces a child by a foreign object while a write of it is on its way.
async fn replace_during(verb: &str) {
    let faults = Faults::start().await;
    let world = &faults.world;
    world.apply(RECIPE, salted("old")).await;
    faults.until_settled("r").await;
    let held = Rule::new(Fault::HoldRequest).verb(verb).resource("configmaps").name("c");
    let held = faults.add(held.times(1));
    let is_update = verb == "patch";
    world.apply(RECIPE, if is_update { salted("new") } else { recipe("r", &[]) }).await;
    until_hits(&held, 1).await;
    world.delete(CONFIG_MAP, "c").await;
    world.until(CONFIG_MAP, "c", "the child gone", Value::is_null).await;
    let foreign = world.create(CONFIG_MAP, config_map("c", json!({"of": "somebody"}))).await;
    held.end();
    if is_update {
        faults.until_not_ready("r", "already exists and is not owned by").await;
    } else {
        faults.until_settled("r").await;
    }
    assert_eq!(world.get(CONFIG_MAP, "c").await, foreign);
    world.delete(CONFIG_MAP, "c").await;
    faults.until_settled("r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child.is_object(), is_update);
    faults.end().await;
}

#[operetta_harness::test(server)]
async fn an_update_on_its_way_never_hits_a_namesake() {
    replace_during("patch").await;
}

#[operetta_harness::test(server)]
async fn a_deletion_on_its_way_never_hits_a_namesake() {
    replace_during("delete").await;
}
