//! Late deletions: changes of a child or its parent between the decision and the request.

use super::{watches::with_child, *};
use crate::recipe::recipe;

/// Changes the parent and holds the resulting deletion of a child.
async fn deleting(faults: &Faults, resource: &str, wanted: &[Value]) -> Armed {
    let held = Rule::new(Fault::HoldRequest).verb("delete").resource(resource).times(1);
    let held = faults.add(held);
    faults.world.apply(RECIPE, recipe("r", wanted)).await;
    until_hits(&held, 1).await;
    held
}

#[operetta_harness::test(server)]
async fn a_child_that_is_edited_before_its_deletion_arrives_is_deleted_without_an_error() {
    let (faults, _) = with_child().await;
    let held = deleting(&faults, "configmaps", &[]).await;
    faults.world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "by another"}})).await;
    held.end();
    faults.until_settled("r").await;
    assert!(faults.world.get(CONFIG_MAP, "c").await.is_null());
    assert_eq!(faults.failures("r"), Vec::<String>::new());
    faults.end().await;
}

// === children that cannot be rebuilt ===
