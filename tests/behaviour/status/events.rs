//! Events about a parent: warnings, counted when they repeat, and normal Events if configured.

use operetta::operator::OperatorConfig;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, EVENT, Operators, World, eventually},
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

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn normal_events_are_published_if_configured() {
    let config = recipe::config("cook").with_normal_events();
    let (world, operators) = started(config).await;
    let children = |data: &str| ["c", "d"].map(|name| config_map(name, json!({"k": data})));
    world.apply(RECIPE, recipe("r", &children("1"))).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    world.patch(RECIPE, "r", json!({"metadata": {"annotations": {"look": "again"}}})).await;
    operators.settled().await;
    world.apply(RECIPE, recipe("r", &children("2")[..1])).await;
    let is_reported = |events: &Vec<Value>| events.len() == 1;
    for (reason, names) in [("Created", ["c", "d"].as_slice()), ("Updated", &["c"])] {
        let events = eventually(reason, || events_of(&world, reason), is_reported).await;
        let expected: Vec<_> =
            names.iter().map(|name| format!("ConfigMap.v1 {}/{name}", world.namespace)).collect();
        let note = format!("{} {}", reason.to_lowercase(), expected.join(", "));
        assert_eq!((&events[0]["type"], &events[0]["note"]), (&json!("Normal"), &json!(note)));
    }
    eventually("Deleted", || events_of(&world, "Deleted"), is_reported).await;
    // All Events are sent.
    operators.stop().await;
    assert_eq!(world.list(EVENT).await.len(), 3, "none for a reconcile that wrote nothing");
}

#[operetta_harness::test]
async fn a_pause_and_its_end_are_one_event_each() {
    let config = recipe::config("cook").with_normal_events();
    let (world, operators) = started(config).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let annotated = |value: Value| {
        let patch = json!({"metadata": {"annotations": {"operetta.dev/paused": value}}});
        world.patch(RECIPE, "r", patch)
    };
    let until_published = |reason: &'static str, words: &'static str, times: u64| {
        let world = &world;
        async move {
            let is_reported = |events: &Vec<Value>| {
                let note = |event: &&Value| event["note"].as_str().unwrap().contains(words);
                let event = events.iter().find(note);
                event.is_some_and(|it| it["series"]["count"].as_u64().unwrap_or(1) == times)
            };
            eventually(words, || events_of(world, reason), is_reported).await
        }
    };
    annotated(json!("true")).await;
    until_published("Paused", "the annotation operetta.dev/paused pauses it", 1).await;
    world.delete(CONFIG_MAP, "c").await;
    operators.settled().await;
    annotated(Value::Null).await;
    until_published("Resumed", "no longer paused", 1).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    // A pause of the operator is an Event of a parent once a write is held.
    assert_eq!(operators.post("/api/v1/operators/cook/pause").await.0, 200);
    world.delete(CONFIG_MAP, "c").await;
    until_published("Paused", "the operator is paused", 1).await;
    assert_eq!(operators.post("/api/v1/operators/cook/resume").await.0, 200);
    until_published("Resumed", "no longer paused", 2).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
    assert_eq!(events_of(&world, "Paused").await.len(), 2);
    until_published("Paused", "the annotation operetta.dev/paused pauses it", 1).await;
}

#[operetta_harness::test]
async fn no_normal_events_are_published_by_default() {
    let (world, operators) = started(recipe::config("cook")).await;
    world.apply(RECIPE, recipe("well", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "well").await;
    for value in [json!("true"), Value::Null] {
        let annotations = json!({"metadata": {"annotations": {"operetta.dev/paused": value}}});
        world.patch(RECIPE, "well", annotations).await;
        operators.settled().await;
    }
    // Events are sent in order: a later one shows that there was none before.
    world.apply(RECIPE, acting("ill", "permanent")).await;
    let published = || world.list(EVENT);
    let events = eventually("the Warning", published, |events| !events.is_empty()).await;
    assert!(events.iter().all(|event| event["type"] == "Warning"), "{events:#?}");
    operators.stop().await;
}
