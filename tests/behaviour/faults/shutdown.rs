//! Requests in progress at the shutdown are completed: Events and commands.

use operetta::{
    object::ObjectKey,
    testkit::internals::board::{Command, PauseRequest},
};

use super::*;
use crate::recipe::{acting, recipe};

/// Stops the process while a request is held, and releases the request during the shutdown.
async fn stop_during(operators: Operators, held: &Armed) {
    until_hits(held, 1).await;
    let board = operators.running().board().clone();
    let stopped = tokio::spawn(operators.stop());
    eventually("the shutdown began", || async { board.is_stopping() }, |stopping| *stopping).await;
    held.end();
    stopped.await.unwrap();
}

#[operetta_harness::test]
async fn the_events_of_a_reconcile_are_published_before_the_shutdown() {
    let faults = Faults::start().await;
    let held = faults.add(Rule::new(Fault::HoldRequest).resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_not_ready("r", "no such dish").await;
    let Faults { world, operators, .. } = faults;
    stop_during(operators, &held).await;
    let events = world.list(EVENT).await;
    let notes: Vec<_> = events.iter().map(|event| event["note"].clone()).collect();
    assert!(notes.iter().any(|note| note.to_string().contains("no such dish")), "{notes:?}");
}

#[operetta_harness::test]
async fn a_command_in_progress_is_completed_before_the_shutdown() {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[])).await;
    faults.until_settled("r").await;
    let held = faults.add(Rule::new(Fault::HoldRequest).verb("patch").resource("recipes"));
    let Faults { world, operators, .. } = faults;
    let board = operators.running().board().clone();
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let command = Command::PauseParent(key, PauseRequest::default());
    let answer = tokio::spawn(async move { board.command("cook", command, None).await });
    stop_during(operators, &held).await;
    answer.await.unwrap().unwrap();
    let parent = world.get(RECIPE, "r").await;
    let pause = parent["metadata"]["annotations"]["operetta.dev/paused"].to_string();
    assert!(pause.contains("since="), "{pause}");
}
