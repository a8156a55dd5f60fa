//! A child type that cannot be listed at the start: every parent reports it, no handler is called, and the
//! operator continues by itself once the type is available.

use operetta_apiserver::faults::{Fault, Refusal, Rule};
use serde_json::{Value, json};

use super::Faults;
use crate::{
    recipe::{RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::CONFIG_MAP,
};

const REASON: &str = "ChildTypeUnavailable";

#[operetta_harness::test]
async fn a_child_type_that_may_not_be_listed_is_said_by_each_parent_until_it_may() {
    let why = "missing permission: get, list, watch on configmaps";
    is_reported_until_available(Refusal::new(403), why).await;
}

async fn is_reported_until_available(refusal: Refusal, why: &str) {
    let faults = Faults::start().await;
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_settled("r").await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    let of_configmaps =
        |verb| Rule::new(Fault::Refuse(refusal.clone())).verb(verb).resource("configmaps");
    let refused = ["list", "watch"].map(|verb| faults.plan.add(of_configmaps(verb)));
    let faults = faults.restart().await;
    faults.until_not_ready("r", why).await;

    let failure = ExpectedFailure::before(&faults.world, &faults.operators, "cook", REASON).await;
    faults.world.apply(RECIPE, recipe("new", &[config_map("d", json!({}))])).await;
    failure.until_reported("new", why).await;
    let path = format!("/api/v1/operators/cook/parents/{}/new?diff=1", faults.world.namespace);
    let (_, body) = faults.operators.shown(&path).await;
    assert!(body.contains("the handler is not called"), "{body}");
    assert!(faults.world.get(CONFIG_MAP, "d").await.is_null(), "its handler was not called");
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await, child);

    refused.iter().for_each(operetta_apiserver::faults::Armed::end);
    faults.world.until(CONFIG_MAP, "d", "the child of the new parent", Value::is_object).await;
    faults.until_settled("new").await;
    faults.until_settled("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await, child);
    faults.end().await;
}
