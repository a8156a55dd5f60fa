//! A CRD whose schema of the status is changed while operators run.

use operetta::supervisor::SupervisorBuilder;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{World, condition, eventually, is_ready},
};

/// A parent whose handler returns a field.
fn tasty() -> Value {
    let mut parent = recipe("r", &[config_map("c", json!({}))]);
    parent["spec"]["status"] = json!({"taste": "fine"});
    parent
}

async fn becomes_whole(broken: Option<Value>, dropped: &[&str]) {
    let world = World::new().await;
    let crd = recipe::crd(broken);
    operetta::supervisor::install_crds(&world.client, &[crd]).await.unwrap();
    world.until_published(|text| text.contains("Recipe") && !text.contains("taste")).await;
    let register = |all: SupervisorBuilder| all.register(recipe::config("cook"), recipe::handler());
    let operators = world.start(register).await;
    world.apply(RECIPE, tasty()).await;
    let ready = || operators.http("/readyz?verbose");
    let names = |(_, body): &(u16, String)| {
        let line = body.lines().find(|line| line.starts_with("[-]status/cook"));
        line.is_some_and(|line| dropped.iter().all(|path| line.contains(path)))
    };
    eventually(&format!("{dropped:?} named"), ready, names).await;
    let before = world.get(RECIPE, "r").await;
    assert!(condition(&before, "Ready").is_null(), "{before}");
    world.install_recipes().await;
    let after = world.until(RECIPE, "r", "the status of the same parent", is_ready).await;
    assert_eq!(after["status"]["taste"], "fine");
    assert_eq!(after["metadata"]["generation"], before["metadata"]["generation"]);
    eventually("no field left", ready, |(_, body)| !body.contains("]status/cook")).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_parent_gets_its_status_when_the_schema_declares_it_again() {
    let poor = json!({"type": "object", "properties": {"smell": {"type": "string"}}});
    becomes_whole(Some(poor), &[".status.taste", ".status.conditions"]).await;
}

#[operetta_harness::test(server)]
async fn a_parent_gets_its_status_when_the_type_has_one_again() {
    becomes_whole(None, &[".status ", ".status.conditions"]).await;
}

/// The type loses a field that is in use.
#[operetta_harness::test(server)]
async fn a_field_that_the_schema_no_longer_declares_is_named_without_a_change_of_a_parent() {
    let world = World::new().await;
    let register = |all: SupervisorBuilder| all.register(recipe::config("cook"), recipe::handler());
    let operators = world.start(register).await;
    world.apply(RECIPE, tasty()).await;
    world.until_ready(RECIPE, "r").await;
    let mut poor = recipe::status();
    poor["properties"].as_object_mut().unwrap().remove("taste");
    operetta::supervisor::install_crds(&world.client, &[recipe::crd(Some(poor))]).await.unwrap();
    let ready = || operators.http("/readyz?verbose");
    let names = |(_, body): &(u16, String)| {
        body.lines().any(|line| line.starts_with("[-]status/cook") && line.contains("taste"))
    };
    eventually("the field named", ready, names).await;
    operators.stop().await;
}
