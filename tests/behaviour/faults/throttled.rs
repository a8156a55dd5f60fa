//! A server that answers 429 for one child of several, or one parent.

use super::*;
use crate::recipe::{config_map, recipe};

#[operetta_harness::test]
async fn a_retry_after_delays_one_parent_and_no_other() {
    let one_at_a_time = recipe::config("cook").with_max_concurrent_reconciles(1);
    let register = |builder: SupervisorBuilder| builder.register(one_at_a_time, recipe::handler());
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    let (world, operators) = (&faults.world, &faults.operators);
    let busy = faults.add(Rule::new(Fault::busy(300)).resource("configmaps").name("slow"));
    world.apply(RECIPE, recipe("asked-to-wait", &[config_map("slow", json!({}))])).await;
    operators.until_reconciles("cook", &world.namespace, "asked-to-wait", 1).await;
    assert_eq!(busy.hits(), 1);
    // There is one permit: the waiting parent does not hold it.
    world.apply(RECIPE, recipe("other", &[config_map("d", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
    // A change of its spec does not cause an earlier request. The other parent changes after it, so that
    // both changes have been observed when that one is ready.
    let changed = [config_map("slow", json!({"more": "salt"}))];
    world.apply(RECIPE, recipe("asked-to-wait", &changed)).await;
    world.apply(RECIPE, recipe("other", &[config_map("d", json!({"more": "salt"}))])).await;
    world.until_ready(RECIPE, "other").await;
    assert_eq!(busy.hits(), 1);
    faults.until_shown("asked-to-wait", "\"why\":\"Throttled\"").await;
    faults.end().await;
}
