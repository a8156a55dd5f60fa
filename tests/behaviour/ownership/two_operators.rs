//! Two processes with operators of different names for one parent type, which do not declare each other.

use operators::echo_server;
use operetta::{object::ObjectKey, operator::Labels, prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE},
    world::{SERVICE, World, eventually},
};

/// Returns the children for one operator: `spec.cook`, `spec.chef`.
fn children_for(name: &'static str) -> impl Fn(&SyncRequest) -> Result<SyncResponse> {
    move |request| {
        let spec = request.parent.field("spec").unwrap_or_default();
        let children = spec[name].as_array().cloned().unwrap_or_default();
        Ok(SyncResponse::new().children(children))
    }
}

fn of_both(cook: &[&str], chef: &[&str]) -> Value {
    let service = |name: &&str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"ports": [{"port": 80}]}})
    };
    let [cook, chef] = [cook, chef].map(|names| names.iter().map(service).collect::<Vec<_>>());
    json!({"metadata": {"name": "r"}, "spec": {"cook": cook, "chef": chef}})
}

fn register(name: &'static str, builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(recipe::config(name), children_for(name))
}

/// With an operator with other labels, so that the process watches all services.
fn with_all_services(builder: SupervisorBuilder) -> SupervisorBuilder {
    let managed_by = String::from("example.dev/managed-by");
    let config = echo_server::config().with_labels(Labels { managed_by, ..Labels::default() });
    builder.register(config, echo_server::handler())
}

#[operetta_harness::test(server)]
async fn two_operators_of_one_parent_delete_only_their_own_children() {
    let world = World::new().await;
    let cook = world.start(|builder| register("cook", with_all_services(builder))).await;
    let chef = world.start(|builder| register("chef", builder)).await;
    world.apply(RECIPE, of_both(&["a", "b"], &["c", "d"])).await;
    for name in ["a", "b", "c", "d"] {
        world.until(SERVICE, name, "a child", Value::is_object).await;
    }
    let kept = [world.get(SERVICE, "a").await, world.get(SERVICE, "c").await];
    world.apply(RECIPE, of_both(&["a"], &["c"])).await;
    for name in ["b", "d"] {
        world.until(SERVICE, name, "the undesired child deleted", Value::is_null).await;
    }
    world.until_ready(RECIPE, "r").await;
    cook.settled().await;
    chef.settled().await;
    let now = [world.get(SERVICE, "a").await, world.get(SERVICE, "c").await];
    assert_eq!(now, kept, "the desired children are not modified");
    cook.stop().await;
    chef.stop().await;
}

/// Neither knows the other one: the labels and their field manager show whose child it is.
#[operetta_harness::test(server)]
async fn a_child_of_two_operators_that_do_not_know_each_other_is_a_conflict_that_names_both() {
    let world = World::new().await;
    let cook = world.start(|builder| register("cook", builder)).await;
    world.apply(RECIPE, of_both(&["a"], &[])).await;
    let before = world.until(SERVICE, "a", "the child", Value::is_object).await;
    cook.until_synced("cook", &world.namespace, "r").await;
    let chef = world.start(|builder| register("chef", builder)).await;
    world.apply(RECIPE, of_both(&["a"], &["a"])).await;
    let (board, key) = (chef.running().board(), ObjectKey::namespaced(&world.namespace, "r"));
    let message = || async { board.parent("chef", &key).and_then(|parent| parent.message) };
    let names_both = |message: &Option<String>| {
        message.as_ref().is_some_and(|it| it.contains("`cook`") && it.contains("`chef`"))
    };
    eventually("the conflict", message, names_both).await;
    assert_eq!(world.get(SERVICE, "a").await["metadata"], before["metadata"], "not modified");
    world.apply(RECIPE, of_both(&[], &["a"])).await;
    let is_of_chef =
        |service: &Value| service["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "chef";
    world.until(SERVICE, "a", "the child of the remaining operator", is_of_chef).await;
    cook.stop().await;
    chef.stop().await;
}
