//! Status fields of a decorator, which are written only when that is asked for.

use super::*;
use crate::world::{EVENT, condition};

const CONDITION: &str = "test.operetta.dev/Fed";

fn fed(status: &str) -> Value {
    json!({"status": {"conditions": [
        {"type": CONDITION, "status": status, "reason": "Fed", "message": "by hand"},
    ]}})
}

#[operetta_harness::test]
async fn a_status_is_not_written_unless_that_is_asked_for() {
    let world = World::new().await;
    deployment(&world, "d", Some(fed("True"))).await;
    let operators = start(&world).await;
    let is_reported = |events: &Vec<Value>| {
        events.iter().any(|event| event["note"].to_string().contains("with_status_fields"))
    };
    eventually("an Event", || world.list(EVENT), is_reported).await;
    operators.settled().await;
    assert_eq!(condition(&world.get(DEPLOYMENT, "d").await, CONDITION), Value::Null);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn status_fields_are_put_changed_and_removed() {
    let world = World::that_logs_requests().await;
    deployment(&world, "d", Some(fed("True"))).await;
    let of = || config("decorator", &world.namespace).with_status_fields();
    let operators = world.start(|builder| builder.register(of(), sync)).await;
    let is = |status: &'static str| move |it: &Value| condition(it, CONDITION)["status"] == status;
    let first = world.until(DEPLOYMENT, "d", "the condition", is("True")).await;
    assert!(condition(&first, CONDITION)["lastTransitionTime"].is_string());
    operators.settled().await;
    operators.stop().await;
    let before = writes(&world).await;
    let operators = world.start(|builder| builder.register(of(), sync)).await;
    operators.until_synced("decorator", &world.namespace, "d").await;
    operators.settled().await;
    assert_eq!(writes(&world).await.split_off(before.len()), [], "a restart writes nothing");
    decorate(&world, "d", fed("False")).await;
    world.until(DEPLOYMENT, "d", "the changed condition", is("False")).await;
    decorate(&world, "d", Value::Null).await;
    let is_gone = |it: &Value| condition(it, CONDITION).is_null();
    world.until(DEPLOYMENT, "d", "the condition removed", is_gone).await;
    until_no_parent(&world, &operators, "decorator").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_conditions_of_the_framework_have_a_prefix_and_are_written_only_on_request() {
    let world = World::new().await;
    deployment(&world, "d", Some(everything())).await;
    let config = config("decorator", &world.namespace).with_conditions();
    let operators = world.start(|builder| builder.register(config, sync)).await;
    let is_synced = |it: &Value| condition(it, "decorator/Synced")["status"] == "True";
    world.until(DEPLOYMENT, "d", "its condition", is_synced).await;
    decorate(&world, "d", Value::Null).await;
    let is_gone = |it: &Value| !it["status"].to_string().contains("decorator/");
    world.until(DEPLOYMENT, "d", "its conditions removed", is_gone).await;
    operators.stop().await;
}
