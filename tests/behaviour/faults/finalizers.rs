//! Failed writes of the finalizer, and lost answers.

use super::*;
use crate::{
    cleaner::Cleaner,
    recipe::{config_map, recipe},
};
use operetta::supervisor::Timeouts;

/// Adds the finalizer and later removes it, with a fault in both answers.
async fn lose_answers(faults: &Faults, cleaner: &Cleaner, name: &str, fault: Fault) {
    let world = &faults.world;
    let fault_once = || {
        let rule = Rule::new(fault.clone()).verb("patch").resource("recipes").name(name);
        faults.add(rule.times(1))
    };
    let on = fault_once();
    world.create(RECIPE, recipe(name, &[config_map(name, json!({}))])).await;
    let parent = faults.until_settled(name).await;
    assert_eq!(on.hits(), 1, "{name}");
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{name}: once");
    assert_eq!(faults.writes("recipes", name), 0, "{name}: and not added again");
    let off = fault_once();
    world.delete(RECIPE, name).await;
    world.until(RECIPE, name, "the parent gone", Value::is_null).await;
    faults.operators.settled().await;
    assert_eq!(off.hits(), 1, "{name}");
    assert_eq!(faults.writes("recipes", name), 0, "{name}: and not removed again");
    assert_eq!(cleaner.finalized(world, name), 1, "{name}: finalized once");
}

#[operetta_harness::test]
async fn a_finalizer_is_added_and_removed_once_although_the_answers_are_lost() {
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let timeouts = Timeouts { request: Duration::from_millis(500), ..Timeouts::default() };
    let register = |builder: SupervisorBuilder| {
        builder.with_timeouts(timeouts).register(recipe::config("cook"), handler)
    };
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    for (name, fault) in [
        ("lost", Fault::LoseReply),
        ("cut", Fault::CutReply),
        ("garbled", Fault::GarbleReply),
        ("swallowed", Fault::SwallowReply),
    ] {
        lose_answers(&faults, &cleaner, name, fault).await;
    }
    faults.end().await;
}
