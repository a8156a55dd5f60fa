//! A finalizer that cannot be written, or not be taken off.

use operetta::prelude::*;

use super::*;
use crate::recipe::{config_map, recipe};

/// Has nothing to clean up, but asks to be asked.
struct Tidy;

impl Handler for Tidy {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse> {
        Ok(FinalizeResponse::done())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_that_cannot_be_written_or_taken_off_is_said_and_tried_again() {
    let register = |builder: SupervisorBuilder| builder.register(recipe::config("cook"), Tidy);
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
