//! One entry per child in the status of the parent, if the operator is configured so.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    reported::{assert_no_event_of_undeclared, until_undeclared},
    world::{CONFIG_MAP, ECHO, EVENT, Kind, Operators, World, condition, eventually},
};

async fn start(world: &World) -> Operators {
    let config = recipe::config("cook").with_child_status();
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// A child that every server refuses because of an invalid key.
fn refused(name: &str) -> Value {
    config_map(name, json!({"no such key": ""}))
}

/// Name and state of each child, as `name:state`.
fn states(parent: &Value) -> Vec<String> {
    let children = parent["status"]["children"].as_array().into_iter().flatten();
    let state = |child: &Value| {
        format!("{}:{}", child["name"].as_str().unwrap(), child["state"].as_str().unwrap())
    };
    children.map(state).collect()
}

fn entry<'a>(parent: &'a Value, name: &str) -> &'a Value {
    let mut children = parent["status"]["children"].as_array().unwrap().iter();
    children.find(|child| child["name"] == name).unwrap()
}

async fn until_states(world: &World, name: &str, expected: &[&str]) -> Value {
    let is_so = |parent: &Value| states(parent) == expected;
    world.until(RECIPE, name, &format!("{expected:?}"), is_so).await
}

async fn warnings(world: &World, reason: &str) -> usize {
    let events = world.list(EVENT).await;
    events.iter().filter(|event| event["reason"] == reason).count()
}

async fn until_warned(world: &World, reason: &str) {
    eventually(reason, || warnings(world, reason), |count| *count == 1).await;
}

async fn annotate(world: &World, kind: Kind, name: &str, annotations: Value) {
    world.patch(kind, name, json!({"metadata": {"annotations": annotations}})).await;
}

#[operetta_harness::test]
async fn each_child_has_a_state_and_a_message_in_the_status() {
    let world = World::new().await;
    let operators = start(&world).await;
    world.create(CONFIG_MAP, config_map("theirs", json!({}))).await;
    let well = config_map("well", json!({}));
    let children = [refused("bad"), config_map("theirs", json!({"a": "b"})), well.clone()];
    world.apply(RECIPE, recipe("r", &children)).await;
    let parent = until_states(&world, "r", &["bad:Failed", "theirs:Conflict", "well:Synced"]).await;
    let message = |name: &str| entry(&parent, name)["message"].as_str().unwrap_or_default();
    assert!(message("bad").contains("no such key"), "{}", message("bad"));
    assert!(
        message("theirs").starts_with("already exists and is not owned by"),
        "{}",
        message("theirs")
    );
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": world.namespace,
        "name": "well", "state": "Synced"});
    assert_eq!(*entry(&parent, "well"), expected);

    world.apply(RECIPE, recipe("r", std::slice::from_ref(&well))).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(states(&parent), ["well:Synced"]);

    // A failed handler does not change the states.
    world.apply(RECIPE, acting("r", "permanent")).await;
    let has_failed = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    let parent = world.until(RECIPE, "r", "the failure", has_failed).await;
    assert_eq!(states(&parent), ["well:Synced"], "no child was modified");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_repaired_child_costs_no_write_of_the_status() {
    let world = World::new().await;
    let operators = start(&world).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "little"}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let before = world.get(RECIPE, "r").await;
    assert_eq!(states(&before), ["c:Synced"]);
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "much"}})).await;
    let is_repaired = |child: &Value| child["data"]["salt"] == "little";
    world.until(CONFIG_MAP, "c", "the repair", is_repaired).await;
    operators.settled().await;
    let after = world.get(RECIPE, "r").await;
    assert_eq!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn terminating_and_held_children_are_reported() {
    let world = World::new().await;
    let operators = start(&world).await;
    let [a, b] = ["a", "b"].map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &[a.clone(), b])).await;
    world.until_ready(RECIPE, "r").await;
    let slow = json!({"metadata": {"finalizers": ["test.operetta.dev/slow"]}});
    world.patch(CONFIG_MAP, "b", slow).await;
    world.apply(RECIPE, recipe("r", std::slice::from_ref(&a))).await;
    let parent = until_states(&world, "r", &["a:Synced", "b:Terminating"]).await;
    let held = "it is being deleted, which waits for test.operetta.dev/slow";
    assert_eq!(entry(&parent, "b")["message"], held);
    world.patch(CONFIG_MAP, "b", json!({"metadata": {"finalizers": null}})).await;
    until_states(&world, "r", &["a:Synced"]).await;

    annotate(&world, RECIPE, "r", json!({"operetta.dev/paused": "true"})).await;
    world.apply(RECIPE, recipe("r", &[a, config_map("new", json!({}))])).await;
    let parent = until_states(&world, "r", &["a:Synced", "new:Held"]).await;
    let message = entry(&parent, "new")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("no longer paused"), "{message}");
    annotate(&world, RECIPE, "r", json!({"operetta.dev/paused": null})).await;
    until_states(&world, "r", &["a:Synced", "new:Synced"]).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_status_lists_failing_children_first_and_counts_the_omitted_ones() {
    let world = World::new().await;
    let operators = start(&world).await;
    let mut children: Vec<_> =
        (0..103).map(|number| config_map(&format!("c-{number}"), json!({}))).collect();
    children.push(refused("zz-bad"));
    world.apply(RECIPE, recipe("r", &children)).await;
    let is_reported = |parent: &Value| parent["status"]["childrenOmitted"] == 4;
    let parent = world.until(RECIPE, "r", "how many are not listed", is_reported).await;
    let shown = states(&parent);
    assert_eq!((shown.len(), shown[99].as_str()), (100, "zz-bad:Failed"));
    world.apply(RECIPE, recipe("r", &children[..99])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let status = &parent["status"];
    assert_eq!(status["children"].as_array().unwrap().len(), 99);
    assert!(status["childrenOmitted"].is_null(), "{}", status["childrenOmitted"]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_list_of_children_from_the_handler_is_not_written_and_that_is_reported_once() {
    let world = World::new().await;
    let operators = start(&world).await;
    for name in ["r", "s"] {
        let mut parent = recipe(name, &[config_map(&format!("{name}-c"), json!({}))]);
        parent["spec"]["status"] = json!({"taste": "sour", "children": [{"mine": true}]});
        world.apply(RECIPE, parent).await;
        let parent = world.until_ready(RECIPE, name).await;
        assert_eq!(states(&parent), [format!("{name}-c:Synced")]);
        assert_eq!(parent["status"]["taste"], "sour");
    }
    until_warned(&world, "OverruledStatus").await;
    operators.stop().await;
    assert_eq!(warnings(&world, "OverruledStatus").await, 1, "all Events are sent");
}

#[operetta_harness::test]
async fn a_type_without_a_declared_list_of_children_gets_none_and_the_operator_reports_it() {
    let world = World::new().await;
    let config = OperatorConfig::new("lister", K8sType::namespaced(ECHO.0, ECHO.1, ECHO.2))
        .child::<ConfigMap>(ChildConfig::apply())
        .with_child_status();
    let sync = |request: &SyncRequest| {
        let name = request.parent.name();
        Ok(SyncResponse::new().child(config_map(name, json!({}))))
    };
    let start = || world.start(|builder| builder.register(config.clone(), sync));
    let operators = start().await;
    for name in ["a", "b"] {
        let echo = json!({"metadata": {"name": name}, "spec": {"serviceName": "hello"}});
        world.apply(ECHO, echo).await;
        let parent = world.until_synced(ECHO, name).await;
        assert!(parent["status"]["children"].is_null());
    }
    let undeclared = (".status.children", "framework");
    until_undeclared(&operators, "lister", undeclared).await;
    operators.stop().await;
    // Their statuses are up to date.
    let operators = start().await;
    for name in ["a", "b"] {
        operators.until_synced("lister", &world.namespace, name).await;
    }
    until_undeclared(&operators, "lister", undeclared).await;
    operators.stop().await;
    assert_no_event_of_undeclared(&world).await;
}
