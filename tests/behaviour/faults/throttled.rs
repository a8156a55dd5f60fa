//! A server that answers 429 for one child of several, or one parent.

use super::*;
use crate::recipe::{config_map, recipe};

/// The attempted writes in order: children by their names.
fn attempts(faults: &Faults) -> Vec<String> {
    let decisions = faults.plan.decisions().into_iter().map(|decision| decision.target);
    let patches = decisions.filter(|it| it.verb == "patch");
    let attempts = patches.filter_map(|it| match it.resource.as_str() {
        "configmaps" => it.name,
        "recipes/status" => Some("the status".to_owned()),
        _ => None,
    });
    attempts.collect()
}

#[operetta_harness::test]
async fn a_busy_server_delays_the_other_children_but_not_for_ever() {
    let faults = Faults::start().await;
    let busy = faults.add(Rule::new(Fault::busy(1)).resource("configmaps").name("a"));
    let children = ["a", "b", "c"].map(|name| config_map(name, json!({})));
    faults.world.apply(RECIPE, recipe("r", &children)).await;
    faults.until_warned("r", "2 other writes wait").await;
    // The first reconcile ended at the first child; the next one writes the others before it.
    until_hits(&busy, 2).await;
    assert_eq!(attempts(&faults)[..5], ["a", "the status", "b", "c", "a"]);
    // The last of them may be in progress at the same time.
    for name in ["b", "c"] {
        faults.world.until(CONFIG_MAP, name, "written", Value::is_object).await;
    }
    faults.until_not_ready("r", "429 TooManyRequests").await;
    busy.end();
    faults.until_settled("r").await;
    for name in ["a", "b", "c"] {
        assert_eq!(faults.writes("configmaps", name), 1, "{name}");
    }
    faults.end().await;
}

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
