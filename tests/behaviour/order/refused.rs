//! Orders that cannot work, and stages that are never ready: what is reported, and that other parents continue.

use super::*;
use crate::reported::ExpectedFailure;

/// Reports a refused response, writes nothing for it, and writes another parent.
async fn refuses(parent: Value, words: impl Fn(&str) -> String) {
    let world = World::new().await;
    let operators = start(&world).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "InvalidChildren").await;
    world.apply(RECIPE, parent).await;
    failure.until_reported("r", &words(&world.namespace)).await;
    assert_eq!(world.list(POD).await, Vec::<Value>::new());
    world.apply(RECIPE, staged("other", &[&[config_map("c", json!({}))]])).await;
    world.until_ready(RECIPE, "other").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn children_that_wait_for_each_other_are_refused_with_their_names() {
    let mut parent = staged("r", &[&[pod("d"), pod("e")]]);
    parent["spec"]["after"] = json!({"d": ["e"], "e": ["d"]});
    refuses(parent, |namespace| {
        let [d, e] = ["d", "e"].map(|name| format!("Pod.v1 {namespace}/{name}"));
        format!("{d}: children wait for each other: {d}, which is after {e}, which is after {d}")
    })
    .await;
}

#[operetta_harness::test]
async fn a_child_that_waits_for_a_later_stage_is_refused() {
    let mut parent = staged("r", &[&[pod("d")], &[pod("e")]]);
    parent["spec"]["after"] = json!({"d": ["e"]});
    refuses(parent, |_| "children wait for each other".to_owned()).await;
}

#[operetta_harness::test]
async fn an_edge_to_a_child_that_is_not_returned_is_refused() {
    let mut parent = staged("r", &[&[pod("d")]]);
    parent["spec"]["after"] = json!({"d": ["gone"]});
    refuses(parent, |namespace| {
        format!("Pod.v1 {namespace}/d: it is after Pod.v1 gone, which the handler does not return")
    })
    .await;
}

#[operetta_harness::test]
async fn an_edge_that_is_stated_twice_is_refused() {
    let mut parent = staged("r", &[&[pod("d"), pod("e")]]);
    parent["spec"]["after"] = json!({"e": ["d", "d"]});
    refuses(parent, |_| "it is after Pod.v1 d twice".to_owned()).await;
}

#[operetta_harness::test]
async fn a_stage_that_is_not_ready_in_time_is_a_failure_and_continues_when_it_is() {
    let world = World::new().await;
    let operators = start(&world).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "StageTimeout").await;
    let mut parent = staged("r", &[&[pod("d")], &[config_map("c", json!({}))]]);
    parent["spec"]["within"] = json!(0.2);
    world.apply(RECIPE, parent).await;
    failure.until_reported("r", "stage 1 is not ready after 0.2 s").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null());
    report(&world, "d", "True").await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    operators.stop().await;
}
