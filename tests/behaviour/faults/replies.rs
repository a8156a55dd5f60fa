//! Requests that took effect although their answer was lost or malformed.

use super::*;
use crate::recipe::{config_map, recipe};
use operetta::supervisor::Timeouts;

const WRITES: [&str; 4] = ["create", "update", "delete", "status"];

/// Lets a write take effect and its answer fail: the failure is reported, and the child exists once and is
/// owned. Returns how many reconciles failed.
async fn fail_answer(faults: &Faults, fault: Fault, write: &str, name: &str, words: &str) -> usize {
    let world = &faults.world;
    if write != "create" {
        let first = recipe(name, &[config_map(name, json!({"salt": "little"}))]);
        world.apply(RECIPE, first).await;
        faults.until_settled(name).await;
    }
    let before = world.get(CONFIG_MAP, name).await;
    let rule = Rule::new(fault).name(name).resource(match write {
        "status" => "recipes/status",
        _ => "configmaps",
    });
    let rule = faults.add(rule.verb(if write == "delete" { "delete" } else { "patch" }).times(1));
    let mut parent = recipe(name, &[config_map(name, json!({"salt": "much"}))]);
    match write {
        "delete" => parent = recipe(name, &[]),
        "status" => {
            parent = recipe(name, &[config_map(name, json!({"salt": "little"}))]);
            parent["spec"]["status"] = json!({"taste": "fine"});
        }
        _ => {}
    }
    world.apply(RECIPE, parent).await;
    // The next reconcile succeeds, so that the condition may be too short-lived to be seen.
    faults.until_warned(name, words).await;
    faults.until_shown(name, words).await;
    let parent = faults.until_settled(name).await;
    assert_eq!(rule.hits(), 1, "{name}");
    let child = world.get(CONFIG_MAP, name).await;
    match write {
        "delete" => assert!(child.is_null(), "{name}"),
        "status" => {
            assert_eq!(parent["status"]["taste"], "fine", "{name}");
            assert_eq!(child, before, "{name}");
        }
        "update" => {
            assert_eq!(child["data"]["salt"], "much", "{name}");
            assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"], "{name}");
        }
        _ => {
            assert_eq!(child["data"]["salt"], "much", "{name}");
            // One create, and no update: the version is that of the creation.
            let managers = child["metadata"]["managedFields"].as_array().unwrap();
            assert_eq!(managers.len(), 1, "{name}: {managers:?}");
        }
    }
    let failures = faults.failures(name).len();
    assert!(failures > 0, "{name}");
    failures
}

async fn fail_answers(fault: Fault, words: &str) {
    let faults = Faults::start().await;
    let each = WRITES.map(|write| {
        let fault = fault.clone();
        let faults = &faults;
        async move { fail_answer(faults, fault, write, write, words).await }
    });
    let failures: usize = futures::future::join_all(each).await.into_iter().sum();
    assert_eq!(faults.failed_reconciles().await, failures);
    for write in WRITES {
        let got_through = faults.writes("configmaps", write);
        // A reconcile before the watch event repeats the write. All but the create have one write before
        // the lost one.
        let most = if write == "create" { 1 } else { 2 };
        assert!(
            got_through <= most,
            "{write}: {got_through} requests beside the one that was lost"
        );
    }
    faults.end().await;
}

#[operetta_harness::test]
async fn a_reply_that_is_lost_after_the_write_causes_no_duplicate_and_no_conflict() {
    fail_answers(Fault::LoseReply, "no answer from the API server").await;
}

#[operetta_harness::test]
async fn a_malformed_reply_causes_no_duplicate_and_no_conflict() {
    fail_answers(Fault::GarbleReply, "answer of the API server cannot be read").await;
}

#[operetta_harness::test]
async fn a_write_that_takes_effect_and_is_never_answered_times_out_and_is_not_repeated() {
    let timeouts = Timeouts { request: Duration::from_millis(500), ..Timeouts::default() };
    let plan = FaultPlan::new();
    let faults = Faults::start_with(plan, |builder| builder.with_timeouts(timeouts)).await;
    let mut failures = 0;
    for write in WRITES {
        let silence = "no answer from the API server";
        failures += fail_answer(&faults, Fault::SwallowReply, write, write, silence).await;
        assert_eq!(faults.failed_reconciles().await, failures, "{write}");
        // All but the create have one write before them.
        let others = usize::from(write != "create");
        let got_through = faults.writes("configmaps", write);
        assert_eq!(got_through, others, "{write}: the one without an answer was enough");
    }
    assert_eq!(faults.writes("recipes/status", "status"), 1, "the one before the lost one");
    faults.end().await;
}
