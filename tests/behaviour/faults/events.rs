//! Events that are refused, or never answered.

use operetta::cluster::Timeouts;

use super::*;
use crate::recipe::{acting, config_map, recipe};

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_never_answered_delays_neither_a_run_nor_the_end() {
    let timeouts = Timeouts { request: Duration::from_hours(1), ..Timeouts::default() };
    let set_up = |builder: SupervisorBuilder| builder.with_timeouts(timeouts);
    let Some(faults) = Faults::start_with(FaultPlan::new(), set_up).await else { return };
    let held = faults.add(Rule::new(Fault::HoldRequest).resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_said("r", "no such dish").await;
    until_hits(&held, 1).await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_well("r").await;
    tokio::time::timeout(DEADLINE, faults.end()).await.expect("an end in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_refused_fails_no_run_and_the_next_is_told() {
    let Some(faults) = Faults::start().await else { return };
    let refused = faults.add(Rule::new(Fault::refuse(403)).verb("create").resource("events"));
    faults.world.apply(RECIPE, acting("r", "permanent")).await;
    faults.until_said("r", "no such dish").await;
    until_hits(&refused, 1).await;
    refused.end();
    faults.world.apply(RECIPE, acting("r", "fail")).await;
    faults.until_warned("r", "the oven is cold").await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_well("r").await;
    faults.end().await;
}
