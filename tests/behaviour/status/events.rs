//! Events about a parent: warnings, counted when they repeat, and normal Events if configured.

use operetta::operator::OperatorConfig;
use serde_json::Value;

use crate::{
    recipe::{self, RECIPE, acting},
    world::{EVENT, Operators, World, eventually},
};

async fn started(config: OperatorConfig) -> (World, Operators) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    (world, operators)
}

async fn events_of(world: &World, reason: &str) -> Vec<Value> {
    let mut events = world.list(EVENT).await;
    events.retain(|event| event["reason"] == reason);
    events
}

#[operetta_harness::test(server)]
async fn a_repeated_failure_increases_the_count_of_one_event() {
    let (world, operators) = started(recipe::config("cook")).await;
    world.apply(RECIPE, acting("r", "fail")).await;
    let is_counted = |events: &Vec<Value>| {
        events.iter().any(|event| event["series"]["count"].as_u64() >= Some(3))
    };
    let failures = || events_of(&world, "HandlerFailed");
    let events = eventually("a series of three", failures, is_counted).await;
    assert_eq!(events.len(), 1, "{events:#?}");
    let event = &events[0];
    assert_eq!(event["type"], "Warning");
    assert_eq!(event["regarding"]["name"], "r");
    assert_eq!(event["reportingController"], "operetta.dev/cook");
    assert!(event["series"]["lastObservedTime"].is_string());
    // Another failure is another Event, which reports that it is stalled until a change.
    world.apply(RECIPE, acting("r", "permanent")).await;
    let is_stalled = |events: &Vec<Value>| {
        let note = |event: &Value| event["note"].as_str().unwrap_or_default().to_owned();
        events
            .iter()
            .any(|event| note(event).starts_with("stalled, not retried until the parent changes: "))
    };
    eventually("the other failure", failures, is_stalled).await;
    operators.stop().await;
}
