//! What is on its way when the process is told to end gets there: an Event, and what a person ordered.

use operetta::{object::{ObjectKey}, testkit::{internals::{board::Command}}};

use super::*;
use crate::recipe::{acting, recipe};

/// Tells the process to end while a request is held, and lets that go on once it is ending.
async fn stop_during(operators: Operators, held: &Armed) {
    until_hits(held, 1).await;
    let board = operators.running().board().clone();
    let stopped = tokio::spawn(operators.stop());
    eventually("the end began", || async { board.is_stopping() }, |stopping| *stopping).await;
    held.end();
    stopped.await.unwrap();
}

#[operetta_harness::test]
async fn what_a_reconcile_had_to_tell_is_told_before_the_end() {
    let faults = Faults::start().await;
    let held = faults.add(Rule::new(Fault::HoldRequest).resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_said("r", "no such dish").await;
    let Faults { world, operators, .. } = faults;
    stop_during(operators, &held).await;
    let events = world.list(EVENT).await;
    let notes: Vec<_> = events.iter().map(|event| event["note"].clone()).collect();
    assert!(notes.iter().any(|note| note.to_string().contains("no such dish")), "{notes:?}");
}

#[operetta_harness::test]
async fn what_a_person_ordered_is_done_and_answered_before_the_end() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[])).await;
    faults.until_well("r").await;
    let held = faults.add(Rule::new(Fault::HoldRequest).verb("patch").resource("recipes"));
    let Faults { world, operators, .. } = faults;
    let board = operators.running().board().clone();
    let order = Command::PauseParent(ObjectKey::namespaced(&world.namespace, "r"));
    let answer = tokio::spawn(async move { board.command("cook", order, None).await });
    stop_during(operators, &held).await;
    answer.await.unwrap().unwrap();
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["annotations"]["operetta.dev/paused"], "true");
}
