//! Events that are not answered.

use operetta::supervisor::Timeouts;

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
