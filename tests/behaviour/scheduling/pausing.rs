//! A user pauses and resumes a parent.

use std::time::Duration;

use operetta::{supervisor::SupervisorBuilder, testkit::TestCluster};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, EVENT, Operators, World, condition, eventually},
};

fn paused(name: &str, children: &[Value]) -> Value {
    annotated(recipe(name, children), "true")
}

fn annotated(mut parent: Value, value: &str) -> Value {
    parent["metadata"]["annotations"] = json!({"operetta.dev/paused": value});
    parent
}

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await
}

/// Waits until a parent reports that it is paused, with this about pending writes.
async fn until_paused(world: &World, name: &str, pending: &str) -> Value {
    let is_reported = |parent: &Value| {
        let paused = condition(parent, "Paused");
        let generation = &parent["metadata"]["generation"];
        paused["message"].as_str().unwrap_or_default().contains(pending)
            && paused["observedGeneration"] == *generation
    };
    world.until(RECIPE, name, "the condition Paused", is_reported).await
}

#[operetta_harness::test]
async fn no_child_of_a_paused_parent_is_created_changed_or_deleted() {
    let world = World::new().await;
    let operators = start(&world).await;
    let kept = config_map("kept", json!({"salt": "little"}));
    let dropped = config_map("dropped", json!({}));
    world.apply(RECIPE, recipe("r", &[kept, dropped])).await;
    world.until_ready(RECIPE, "r").await;
    let salted = [config_map("kept", json!({"salt": "much"})), config_map("new", json!({}))];
    world.apply(RECIPE, paused("r", &salted)).await;
    let parent = until_paused(&world, "r", "3 writes are pending").await;
    let ready = condition(&parent, "Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("Paused")));
    for name in ["kept", "new", "dropped"] {
        assert!(ready["message"].as_str().unwrap().contains(&format!("/{name}: its")), "{ready}");
    }
    world.delete(CONFIG_MAP, "kept").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "kept").await, Value::Null, "not repaired");
    assert_eq!(world.get(CONFIG_MAP, "new").await, Value::Null);
    assert!(world.get(CONFIG_MAP, "dropped").await["metadata"]["uid"].is_string());
    let phase = || async {
        let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["phase"].clone()
    };
    eventually("the phase over HTTP", phase, |phase| *phase == "paused").await;
    // Without the annotation it is reconciled at once.
    world.apply(RECIPE, recipe("r", &salted)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    assert_eq!(world.get(CONFIG_MAP, "kept").await["data"]["salt"], "much");
    assert!(world.get(CONFIG_MAP, "new").await["metadata"]["uid"].is_string());
    assert_eq!(world.get(CONFIG_MAP, "dropped").await, Value::Null);
    operators.stop().await;
}

/// A parent over HTTP.
async fn shown(world: &World, operators: &Operators, name: &str) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/{name}", world.namespace);
    let (_, body) = operators.http(&path).await;
    serde_json::from_str(&body).unwrap_or_default()
}

#[operetta_harness::test]
async fn a_pause_that_ends_by_itself_is_followed_by_a_reconcile() {
    let cluster = TestCluster::start();
    let world = World::of(cluster.server()).await;
    let connector = world.cluster.connector();
    let set_up = |builder: SupervisorBuilder| {
        let builder = builder.connect(connector).serve("127.0.0.1:0");
        builder.register(recipe::config("cook"), recipe::handler())
    };
    let (running, clock) = cluster.run_with_clock(set_up).await.unwrap();
    let operators = Operators::new(running);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "little"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let path = format!("/api/v1/operators/cook/parents/{}/r/pause", world.namespace);
    let body = json!({"reason": "the oven is cleaned", "for": "2h"});
    let (code, answer) = operators.post_json(&path, &body).await;
    assert_eq!(code, 200, "{answer}");
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    until_paused(&world, "r", "1 write is pending").await;
    let parent = until_paused(&world, "r", "the oven is cleaned").await;
    let annotation = parent["metadata"]["annotations"]["operetta.dev/paused"].clone();
    let (_, metrics) = operators.http("/metrics").await;
    assert!(
        metrics.contains("operetta_oldest_pause_timestamp_seconds{operator=\"cook\"}"),
        "{metrics}"
    );
    clock.advance(Duration::from_hours(1)).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "little");
    let seen = shown(&world, &operators, "r").await;
    assert_eq!((&seen["phase"], &seen["nextWake"]["why"]), (&json!("paused"), &json!("PauseEnds")));
    clock.advance(Duration::from_hours(1)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    assert_eq!(parent["metadata"]["annotations"]["operetta.dev/paused"], annotation, "it stays");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "much");
    let seen = shown(&world, &operators, "r").await;
    assert_eq!(seen["pause"], Value::Null);
    assert!(seen["history"].to_string().contains("PauseEnded"), "{}", seen["history"]);
    let (_, metrics) = operators.http("/metrics").await;
    assert!(!metrics.contains("operetta_oldest_pause_timestamp_seconds{"), "{metrics}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_pause_of_an_operator_ends_by_itself() {
    let cluster = TestCluster::start();
    let world = World::of(cluster.server()).await;
    let connector = world.cluster.connector();
    let set_up = |builder: SupervisorBuilder| {
        let builder = builder.connect(connector).serve("127.0.0.1:0");
        builder.register(recipe::config("cook"), recipe::handler())
    };
    let (running, clock) = cluster.run_with_clock(set_up).await.unwrap();
    let operators = Operators::new(running);
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    let body = json!({"reason": "the kitchen is closed", "for": "2h"});
    let (code, answer) = operators.post_json("/api/v1/operators/cook/pause", &body).await;
    assert_eq!(code, 200, "{answer}");
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    until_paused(&world, "r", "the kitchen is closed").await;
    let (_, body) = operators.http("/api/v1/operators/cook").await;
    let operator: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(operator["pause"]["reason"], "the kitchen is closed", "{operator}");
    clock.advance(Duration::from_hours(1)).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, Value::Null);
    clock.advance(Duration::from_hours(2)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    assert!(world.get(CONFIG_MAP, "c").await["metadata"]["uid"].is_string());
    let (_, body) = operators.http("/api/v1/operators/cook").await;
    assert!(!body.contains("the kitchen is closed"), "{body}");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_pause_shows_who_paused_the_parent_and_why() {
    let world = World::new().await;
    let operators = start(&world).await;
    let value = "by=ann; since=2026-01-01T00:00:00Z; until=2199-01-01T00:00:00Z; reason=a; b";
    world.apply(RECIPE, annotated(recipe("r", &[config_map("c", json!({}))]), value)).await;
    let phrase = "paused by ann since 2026-01-01T00:00:00Z until 2199-01-01T00:00:00Z: a; b";
    until_paused(&world, "r", phrase).await;
    let pause = || async { shown(&world, &operators, "r").await["pause"].clone() };
    let pause = eventually("the pause over HTTP", pause, Value::is_object).await;
    assert_eq!((&pause["by"], &pause["reason"]), (&json!("ann"), &json!("a; b")));
    assert_eq!(pause["since"], "2026-01-01T00:00:00.000Z");
    assert_eq!(pause["until"], "2199-01-01T00:00:00.000Z");
    let seen = shown(&world, &operators, "r").await;
    assert!(seen["why"]["because"].to_string().contains("paused by ann"), "{}", seen["why"]);
    assert_eq!(seen["history"][0]["paused"], phrase);
    assert_eq!(world.get(CONFIG_MAP, "c").await, Value::Null);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_value_that_is_not_understood_pauses_if_a_part_of_it_is_known_and_warns() {
    let world = World::new().await;
    let operators = start(&world).await;
    world.apply(RECIPE, annotated(recipe("some", &[]), "by=ann; until=tomorrow")).await;
    until_paused(&world, "some", "paused by ann").await;
    world.apply(RECIPE, annotated(recipe("none", &[]), "yes")).await;
    let parent = world.until_ready(RECIPE, "none").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    for (reason, words) in [("PauseUnclear", "until=tomorrow"), ("NotPaused", "yes")] {
        let events = || world.list(EVENT);
        let is_there = |events: &Vec<Value>| {
            let is_it = |event: &Value| {
                event["reason"] == reason && event["note"].to_string().contains(words)
            };
            events.iter().any(is_it)
        };
        eventually(reason, events, is_there).await;
    }
    operators.stop().await;
}
