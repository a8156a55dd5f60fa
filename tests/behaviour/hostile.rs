//! Answers of handlers that no good handler gives: nothing is written outside what is theirs, and
//! the parent says what is wrong.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, ECHO, Operators, SERVICE, World, condition},
};

async fn kitchen() -> Option<(World, Operators)> {
    let world = World::new().await?;
    let register = |builder| {
        let builder = operators::register_all(builder, operators::all());
        builder.register(recipe::config("cook"), recipe::sync)
    };
    let operators = world.start(register).await;
    Some((world, operators))
}

async fn until_said(world: &World, reason: &str, words: &str) -> Value {
    let says = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["status"] == "False"
            && ready["reason"] == reason
            && ready["message"].as_str().is_some_and(|message| message.contains(words))
    };
    world.until(RECIPE, "r", &format!("{reason}: {words}"), says).await
}

/// The whole answer is refused, and the parent is well again with the next.
async fn refuses(world: &World, answer: Value, words: &str) {
    world.apply(RECIPE, answer).await;
    until_said(world, "InvalidChildren", words).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_numbers_that_cannot_be_are_refused_before_anything_is_written() {
    let Some((world, operators)) = kitchen().await else { return };
    let good = config_map("good", json!({}));
    for name in ["x".repeat(254), "a\u{0}b".to_owned(), "../secrets/x".to_owned()] {
        let bad = config_map(&name, json!({}));
        refuses(&world, recipe("r", &[good.clone(), bad]), "is not a valid name").await;
    }
    refuses(&world, acting("r", "many"), "10001 children").await;
    assert!(world.get(CONFIG_MAP, "good").await.is_null(), "one refused child refuses all");
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_only_the_server_refuses_is_said_and_the_others_go_on() {
    let Some((world, operators)) = kitchen().await else { return };
    let children = [config_map("Not_A_Name", json!({})), config_map("good", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    until_said(&world, "WriteFailed", "422 Invalid").await;
    assert!(world.get(CONFIG_MAP, "good").await.is_object());
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_bytes_in_a_value_come_through_as_they_are() {
    let Some((world, operators)) = kitchen().await else { return };
    let odd = json!({"salt": "a\u{0}b\u{7f}\u{85}\u{9f}\u{2028} \u{feff}\u{10ffff}\r\n"});
    world.create(RECIPE, recipe("r", &[config_map("c", odd.clone())])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["data"], odd);
    operators.until_synced("cook", &world.namespace, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "and are not written again");
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_child_of_another_operator_is_never_touched() {
    let Some((world, operators)) = kitchen().await else { return };
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_ready(ECHO, "a").await;
    let theirs = world.get(SERVICE, "a").await;
    let mut service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 99}]}});
    // Not even when it says that it is ours.
    service["metadata"]["labels"] = theirs["metadata"]["labels"].clone();
    world.apply(RECIPE, recipe("r", &[service])).await;
    until_said(&world, "Conflict", "controlled by EchoServer a").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(world.get(SERVICE, "a").await, theirs);
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_of_owners_goes_with_its_parent() {
    let Some((world, operators)) = kitchen().await else { return };
    let child = config_map("c", json!({}));
    world.apply(RECIPE, recipe("r", std::slice::from_ref(&child))).await;
    world.until_ready(RECIPE, "r").await;
    let uid = world.get(CONFIG_MAP, "c").await["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": uid});
    world.patch(RECIPE, "r", json!({"metadata": {"ownerReferences": [owner]}})).await;
    let mut more = config_map("d", json!({}));
    more["metadata"]["ownerReferences"] = json!([owner]);
    world.patch(RECIPE, "r", json!({"spec": {"children": [child, more]}})).await;
    world.until(CONFIG_MAP, "d", "a child that a child owns too", Value::is_object).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    for name in ["c", "d"] {
        world.until(CONFIG_MAP, name, "the child collected", Value::is_null).await;
    }
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_answers_differently_each_time_is_slowed_down_and_that_is_said() {
    let Some((world, operators)) = kitchen().await else { return };
    world.apply(RECIPE, acting("r", "dice")).await;
    until_said(&world, "Unsettled", "run after run").await;
    let child = world.get(CONFIG_MAP, "dice").await;
    world.apply(RECIPE, recipe("r", &[config_map("dice", json!({"throw": "six"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let settled = world.get(CONFIG_MAP, "dice").await;
    assert_eq!(settled["data"]["throw"], "six");
    assert_eq!(settled["metadata"]["uid"], child["metadata"]["uid"]);
    operators.stop().await;
}
