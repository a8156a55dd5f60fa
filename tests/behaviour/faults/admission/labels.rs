//! Admission that removes the label by which children are watched.

use super::*;
use crate::recipe::{config_map, recipe};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Waits until the missing label is reported, because no watch would show the child.
async fn until_missing_label_is_reported(faults: &Faults) -> Value {
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let words = "stored the object without the label `app.kubernetes.io/managed-by`";
    faults.until_not_ready("r", words).await;
    faults.until_warned("r", words).await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    assert!(child["metadata"]["labels"][MANAGED_BY].is_null(), "{child}");
    child
}

/// Asserts that the same child is up to date once the label is kept.
async fn assert_up_to_date_once_label_is_kept(faults: &Faults, child: &Value) {
    faults.touch("r").await;
    faults.until_settled("r").await;
    let now = faults.world.get(CONFIG_MAP, "c").await;
    assert_eq!(now["metadata"]["labels"][MANAGED_BY], "cook");
    assert_eq!(now["metadata"]["uid"], child["metadata"]["uid"]);
}

#[operetta_harness::test(server)]
async fn a_mutating_admission_policy_that_removes_the_managed_by_label_is_reported_until_it_stops()
{
    needs(Need::Policies);
    let faults = Faults::start().await;
    let has_label = "has(object.metadata.labels) && \
                     'app.kubernetes.io/managed-by' in object.metadata.labels";
    let patch = "[JSONPatch{op: 'remove', \
                 path: '/metadata/labels/app.kubernetes.io~1managed-by'}]";
    let policy = Policy::install(&faults, "configmaps", has_label, patch).await;
    let mut probe = config_map("probe", json!({}));
    probe["metadata"]["labels"] = json!({"probe": "yes", MANAGED_BY: "nobody"});
    let is_stripped = |made: &Value| made["metadata"]["labels"][MANAGED_BY].is_null();
    until_admitted(&faults, CONFIG_MAP, &probe, is_stripped).await;
    let child = until_missing_label_is_reported(&faults).await;
    policy.uninstall(&faults).await;
    until_admitted(&faults, CONFIG_MAP, &probe, |made| !is_stripped(made)).await;
    assert_up_to_date_once_label_is_kept(&faults, &child).await;
    faults.end().await;
}
