//! Namesakes: what was deleted and created again while a write was on its way.

use super::*;
use crate::recipe::{config_map, recipe};

fn salted(salt: &str) -> Value {
    recipe("r", &[config_map("c", json!({"salt": salt}))])
}

#[operetta_harness::test]
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
    let parent = faults.until_well("r").await;
    assert_eq!(parent["metadata"]["uid"], second["metadata"]["uid"]);
    faults.end().await;
}

/// What a handler says stays among the conditions, whoever else says what.
fn telling(condition: &str) -> Value {
    let mut parent = recipe("r", &[]);
    let conditions = json!([{"type": condition, "status": "True"}]);
    parent["spec"]["status"] = json!({"taste": condition, "conditions": conditions});
    parent
}

#[operetta_harness::test]
async fn the_status_of_a_parent_never_lands_on_its_namesake() {
    let faults = Faults::start().await;
    let world = &faults.world;
    let held = Rule::new(Fault::HoldRequest).verb("patch").resource("recipes/status").name("r");
    let held = faults.add(held.times(1));
    world.create(RECIPE, telling("First")).await;
    until_hits(&held, 1).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the first gone", Value::is_null).await;
    let second = world.create(RECIPE, telling("Second")).await;
    held.end();
    let parent = faults.until_well("r").await;
    assert_eq!(parent["metadata"]["uid"], second["metadata"]["uid"]);
    assert_eq!(parent["status"]["taste"], "Second");
    assert!(condition(&parent, "First").is_null(), "{parent}");
    faults.end().await;
}

/// A write of a child is on its way; meanwhile somebody puts an object of their own in its place.
async fn is_replaced_under(verb: &str) {
    let faults = Faults::start().await;
    let world = &faults.world;
    world.apply(RECIPE, salted("old")).await;
    faults.until_well("r").await;
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
        faults.until_said("r", "already exists and is not owned by").await;
    } else {
        faults.until_well("r").await;
    }
    assert_eq!(world.get(CONFIG_MAP, "c").await, foreign);
    world.delete(CONFIG_MAP, "c").await;
    faults.until_well("r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child.is_object(), is_update);
    faults.end().await;
}

#[operetta_harness::test]
async fn an_update_on_its_way_never_hits_a_namesake() {
    is_replaced_under("patch").await;
}

#[operetta_harness::test]
async fn a_deletion_on_its_way_never_hits_a_namesake() {
    is_replaced_under("delete").await;
}
