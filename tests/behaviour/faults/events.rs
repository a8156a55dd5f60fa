//! Events that are refused, unanswered, or too many.

use operetta::{operator::Permanent, prelude::*, supervisor::Timeouts};

use super::*;
use crate::recipe::{acting, config_map, recipe};

#[operetta_harness::test]
async fn an_unanswered_event_delays_neither_a_reconcile_nor_the_shutdown() {
    let timeouts = Timeouts { request: Duration::from_hours(1), ..Timeouts::default() };
    let set_up = |builder: SupervisorBuilder| builder.with_timeouts(timeouts);
    let faults = Faults::start_with(FaultPlan::new(), set_up).await;
    let held = faults.add(Rule::new(Fault::HoldRequest).resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_not_ready("r", "no such dish").await;
    until_hits(&held, 1).await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_settled("r").await;
    tokio::time::timeout(DEADLINE, faults.end()).await.expect("an end in time");
}

#[operetta_harness::test]
async fn a_refused_event_fails_no_reconcile_and_the_next_event_is_published() {
    let faults = Faults::start().await;
    let refused = faults.add(Rule::new(Fault::refuse(403)).verb("create").resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_not_ready("r", "no such dish").await;
    until_hits(&refused, 1).await;
    refused.end();
    faults.world.apply(RECIPE, acting("r", "fail")).await;
    faults.until_warned("r", "the oven is cold").await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_settled("r").await;
    faults.end().await;
}

/// Syncs as recipes specify, or fails with an error of the parent's choice.
fn failing(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    match spec["fails"].as_str() {
        Some(words) => Err(Permanent(words.to_owned()).into()),
        None => recipe::sync(request),
    }
}

fn with_error(name: &str, words: &str) -> Value {
    let mut parent = recipe(name, &[]);
    parent["spec"]["fails"] = json!(words);
    parent
}

/// Twelve different Events for each of three reasons. Only together they exceed the limit per parent,
/// because each reason is limited too.
#[operetta_harness::test]
async fn the_number_of_different_warning_events_per_parent_is_limited() {
    let register = |builder: SupervisorBuilder| builder.register(recipe::config("cook"), failing);
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    faults.add(Rule::new(Fault::refuse(422)).verb("patch").resource("configmaps"));
    let child = |name: &str| recipe("r", &[config_map(name, json!({}))]);
    let numbered =
        |what: &str| (10..22).map(|number| format!("{what}{number}")).collect::<Vec<_>>();
    for words in numbered("soup") {
        faults.world.apply(RECIPE, with_error("r", &words)).await;
        faults.until_not_ready("r", &words).await;
    }
    for name in numbered("No.Name!").into_iter().chain(numbered("dish")) {
        faults.world.apply(RECIPE, child(&name)).await;
        faults.until_not_ready("r", &name).await;
    }
    // Events are sent in order: after this one all have been sent.
    faults.world.apply(RECIPE, with_error("q", "burnt")).await;
    faults.until_warned("q", "burnt").await;
    let sent = faults.plan.decisions().into_iter();
    let sent = sent.filter(|decision| decision.target.resource == "events").count();
    assert_eq!(sent, 25 + 1, "the limit, and the one about the other parent");
    let events = faults.world.list(EVENT).await;
    let notes = events.iter().map(|event| event["note"].as_str().unwrap());
    assert!(notes.clone().any(|note| note.contains("No.Name!10")), "another reason: {events:#?}");
    assert!(!notes.clone().any(|note| note.contains("dish21")), "the last: {events:#?}");
    faults.end().await;
}
