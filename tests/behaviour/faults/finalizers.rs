//! A finalizer that cannot be written, or not be taken off.

use super::*;
use crate::{
    cleaner::Cleaner,
    recipe::{config_map, recipe},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_that_cannot_be_written_or_taken_off_is_said_and_tried_again() {
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let register = |builder: SupervisorBuilder| builder.register(recipe::config("cook"), handler);
    let Some(faults) = Faults::start_as(FaultPlan::new(), register).await else { return };
    let about = |fault| Rule::new(fault).verb("patch").resource("recipes").name("r");
    let forbidden = faults.add(about(Fault::refuse(403)));
    faults.world.create(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_said("r", "the finalizer").await;
    faults.until_warned("r", "403 Forbidden").await;
    assert!(faults.world.get(CONFIG_MAP, "c").await.is_null(), "nothing before the finalizer");
    forbidden.end();
    let parent = faults.until_well("r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]));
    // A type that is not served for a moment does not mean that its object is gone.
    let unserved = faults.add(about(Fault::refuse(404)));
    faults.world.delete(RECIPE, "r").await;
    faults.until_said("r", "404 NotFound").await;
    until_hits(&unserved, 2).await;
    unserved.end();
    faults.world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    faults.end().await;
}
