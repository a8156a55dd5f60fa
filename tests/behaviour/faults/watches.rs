//! Watches that break, are silent, or whose versions regress.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    started::counts,
    world::SECRET,
};
use operetta::supervisor::Timeouts;

pub(super) async fn with_child() -> (Faults, Value) {
    with_child_after(FaultPlan::new(), |builder| builder).await
}

/// A synced parent `r` with a child `c`.
pub(super) async fn with_child_after(
    plan: FaultPlan,
    set_up: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) -> (Faults, Value) {
    let faults = Faults::start_with(plan, set_up).await;
    let children = [config_map("c", json!({"salt": "much"}))];
    faults.world.apply(RECIPE, recipe("r", &children)).await;
    faults.until_settled("r").await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    (faults, child)
}

pub(super) async fn until_back(faults: &Faults, child: &Value) {
    let is_back = |now: &Value| {
        now.is_object()
            && now["metadata"]["uid"] != child["metadata"]["uid"]
            && now["data"] == child["data"]
    };
    faults.world.until(CONFIG_MAP, "c", "the child again", is_back).await;
    faults.until_settled("r").await;
}

/// Breaks the watch at the deletion event of a child.
async fn breaks(fault: Fault) {
    breaks_with(fault, Lists::Paged).await;
}

async fn breaks_with(fault: Fault, lists: Lists) {
    let set_up = |builder| lists.set_up(builder);
    let (faults, child) = with_child_after(FaultPlan::new(), set_up).await;
    let rule = Rule::new(fault).verb("watch").resource("configmaps").name("c").times(1);
    let rule = faults.add(rule);
    faults.world.delete(CONFIG_MAP, "c").await;
    until_back(&faults, &child).await;
    assert_eq!(rule.hits(), 1);
    assert_eq!(faults.writes("configmaps", "c"), 2, "created twice, as it was deleted once");
    faults.end().await;
}

#[operetta_harness::test]
async fn a_watch_that_expires_in_the_stream_begins_with_a_list() {
    for lists in Lists::offered().await {
        breaks_with(Fault::ExpireWatch, lists).await;
    }
}

#[operetta_harness::test]
async fn a_watch_that_sends_malformed_events_is_restarted() {
    breaks(Fault::GarbleReply).await;
}

#[operetta_harness::test]
async fn a_watch_that_falls_silent_is_noticed() {
    let silence = Duration::from_secs(1);
    let timeouts = Timeouts { silence, ..Timeouts::default() };
    let set_up = |builder: SupervisorBuilder| builder.with_timeouts(timeouts);
    let (faults, child) = with_child_after(FaultPlan::new(), set_up).await;
    let held = Rule::new(Fault::HoldFrames).verb("watch").resource("configmaps").name("c");
    let held = faults.add(held.times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    until_hits(&held, 1).await;
    until_back(&faults, &child).await;
    let (_, body) = faults.operators.http("/metrics").await;
    let silent = "watch_restarts_total{reason=\"silent\",type=\"configmaps\"}";
    assert!(counts(&body, silent), "{body}");
    faults.end().await;
}

#[operetta_harness::test]
async fn a_stale_list_after_an_expired_watch_deletes_nothing() {
    for lists in Lists::offered().await {
        a_stale_list_of_children(lists).await;
    }
}

async fn a_stale_list_of_children(lists: Lists) {
    let plan = FaultPlan::new();
    // The remembered list is from before the parent and its child.
    plan.remember_lists();
    let (faults, _) = with_child_after(plan, |builder| lists.set_up(builder)).await;
    let about = |fault, verb| Rule::new(fault).verb(verb).resource("configmaps").times(1);
    let stale = faults.plan.add(about(Fault::StaleList, lists.verb()));
    let expired = faults.add(about(Fault::ExpireWatch, "watch").name("c"));
    let note = json!({"metadata": {"annotations": {"note": "mine"}}});
    let c = faults.world.patch(CONFIG_MAP, "c", note).await;
    until_hits(&expired, 1).await;
    until_hits(&stale, 1).await;
    // Later changes are applied, but deletions are held because the cache may be old.
    faults.world.apply(RECIPE, recipe("r", &[config_map("e", json!({}))])).await;
    faults.world.until(CONFIG_MAP, "e", "the new child", Value::is_object).await;
    faults.until_not_ready("r", "c: ").await;
    faults.until_deletion_waits("r", "ConfigMap.v1").await;
    faults.until_regression_reported("configmaps").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await, c, "it is neither written nor deleted");
    faults.end().await;
}

#[operetta_harness::test]
async fn a_stale_list_of_parents_deletes_no_child() {
    for lists in Lists::offered().await {
        a_stale_list_of_parents(lists).await;
    }
}

async fn a_stale_list_of_parents(lists: Lists) {
    let (faults, _) = with_child().await;
    // The list of the restart has the parent with one child.
    faults.plan.remember_lists();
    let faults = faults.restart_with(|builder| lists.set_up(builder)).await;
    let more = [config_map("c", json!({"salt": "much"})), config_map("d", json!({}))];
    faults.world.apply(RECIPE, recipe("r", &more)).await;
    faults.until_settled("r").await;
    let d = faults.world.get(CONFIG_MAP, "d").await;
    let about = |fault, verb| Rule::new(fault).verb(verb).resource("recipes");
    let stale = faults.plan.add(about(Fault::StaleList, lists.verb()).times(1));
    let expired = faults.add(about(Fault::ExpireWatch, "watch").name("r").times(1));
    let held = faults.add(about(Fault::HoldFrames, "watch").name("r"));
    faults.touch("r").await;
    until_hits(&expired, 1).await;
    until_hits(&stale, 1).await;
    faults.until_shown("r", "d: ").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "d").await, d, "an old parent deletes nothing");
    held.end();
    faults.until_settled("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "d").await, d);
    faults.end().await;
}

#[operetta_harness::test]
async fn a_lost_permission_is_reported_at_once_until_it_is_granted_again() {
    let (faults, child) = with_child().await;
    let of_watch = |fault| Rule::new(fault).verb("watch").resource("configmaps");
    // The watch is of all namespaces.
    let forbidden = faults.plan.add(of_watch(Fault::refuse(403)));
    let closed = faults.add(of_watch(Fault::CloseWatch).name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    until_hits(&closed, 1).await;
    let ready = || faults.operators.http("/readyz/cook?verbose");
    let why = "missing permission: get, list, watch on configmaps";
    let is_reported = |(code, body): &(u16, String)| *code == 503 && body.contains(why);
    eventually("what is missing", ready, is_reported).await;
    forbidden.end();
    until_back(&faults, &child).await;
    eventually("the operator ready", ready, |(code, _)| *code == 200).await;
    faults.end().await;
}

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
}

/// Its cache may be out of date. Other types are still deleted.
#[operetta_harness::test]
async fn nothing_is_deleted_of_a_type_that_may_not_be_watched_any_more() {
    let faults = Faults::start().await;
    let child = |name: &str, salt: &str| config_map(name, json!({"salt": salt}));
    faults.world.apply(RECIPE, recipe("r", &[child("c", "some"), secret()])).await;
    faults.until_settled("r").await;
    let forbidden =
        faults.plan.add(Rule::new(Fault::refuse(403)).verb("watch").resource("secrets"));
    let closed = faults.add(Rule::new(Fault::CloseWatch).verb("watch").resource("secrets"));
    faults.world.patch(SECRET, "s", json!({"metadata": {"labels": {"look": "here"}}})).await;
    until_hits(&closed, 1).await;
    let ready = || faults.operators.http("/readyz/cook?verbose");
    let why = "missing permission: get, list, watch on secrets";
    eventually("what is missing", ready, |(_, body)| body.contains(why)).await;
    // Neither child is desired any more, and another one is.
    faults.world.apply(RECIPE, recipe("r", &[child("d", "more")])).await;
    faults.world.until(CONFIG_MAP, "d", "another child", Value::is_object).await;
    faults.world.until(CONFIG_MAP, "c", "the first one gone", Value::is_null).await;
    faults.until_not_ready("r", "its deletion waits until all objects of its type are known").await;
    assert!(faults.world.get(SECRET, "s").await.is_object());
    closed.end();
    forbidden.end();
    faults.world.until(SECRET, "s", "the Secret gone", Value::is_null).await;
    faults.until_settled("r").await;
    faults.end().await;
}
