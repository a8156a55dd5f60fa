//! Lists that are refused, unanswered, or make the watch loop panic: nothing of the type is deleted until
//! one succeeds.

use operetta::supervisor::Timeouts;

use super::{
    watches::{until_back, with_child, with_child_after},
    *,
};
use crate::recipe::{config_map, recipe};

/// Asserts that without lists after an expired watch the failure is reported, nothing of the type is
/// deleted, and new children are created.
async fn assert_works_without_lists(faults: Faults, child: Value, rule: Rule, words: &str) {
    let world = &faults.world;
    let broken = faults.plan.add(rule.resource("configmaps"));
    let expired = Rule::new(Fault::ExpireWatch).verb("watch").resource("configmaps").name("c");
    let expired = faults.add(expired.times(1));
    let note = json!({"metadata": {"annotations": {"note": "mine"}}});
    let noted = world.patch(CONFIG_MAP, "c", note).await;
    until_hits(&expired, 1).await;
    until_hits(&broken, 2).await;
    until_readyz(&faults, &format!("[-]type/configmaps failed: {words}")).await;
    world.apply(RECIPE, recipe("r", &[config_map("d", json!({}))])).await;
    world.until(CONFIG_MAP, "d", "the new child", Value::is_object).await;
    faults.until_not_ready("r", "its deletion waits until all objects of its type are known").await;
    faults.until_deletion_waits("r", "ConfigMap.v1").await;
    let labels = [("reason", "error"), ("type", "configmaps")];
    faults.until_counted("operetta_watch_restarts_total", &labels).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, noted, "it is not modified");
    broken.end();
    world.until(CONFIG_MAP, "c", "the undesired child deleted", Value::is_null).await;
    faults.until_settled("r").await;
    until_readyz(&faults, "[+]type/configmaps ok").await;
    // The watch works again.
    world.apply(RECIPE, recipe("r", &[config_map("c", child["data"].clone())])).await;
    faults.until_settled("r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    world.delete(CONFIG_MAP, "c").await;
    until_back(&faults, &child).await;
    faults.end().await;
}

async fn until_readyz(faults: &Faults, words: &str) {
    let ready = || faults.operators.http("/readyz/cook?verbose");
    eventually(words, ready, |(_, body)| body.contains(words)).await;
}

/// The request does not arrive, or its answer does not.
#[operetta_harness::test]
async fn nothing_is_deleted_while_lists_are_not_answered() {
    for fault in [Fault::HoldRequest, Fault::SwallowReply] {
        let timeouts = Timeouts { request: Duration::from_millis(500), ..Timeouts::default() };
        let set_up = |builder: SupervisorBuilder| builder.with_timeouts(timeouts);
        let (faults, child) = with_child_after(FaultPlan::new(), set_up).await;
        let words = "no answer from the API server within 0.5 s (list /api/v1/configmaps)";
        assert_works_without_lists(faults, child, Rule::new(fault).verb("list"), words).await;
    }
}

#[operetta_harness::test]
async fn nothing_is_deleted_while_what_reads_the_lists_dies_of_them() {
    let (faults, child) = with_child().await;
    let panicking = Fault::rewrite_objects(|_| panic!("of this very object (injected)"));
    let panicking = Rule::new(panicking).verb("list").name("c");
    let words =
        "the answer of the API server cannot be read: internal error: the watch loop panicked";
    assert_works_without_lists(faults, child, panicking, words).await;
}
