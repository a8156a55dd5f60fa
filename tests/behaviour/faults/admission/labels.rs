//! The label by which a child is watched, taken off.

use super::*;
use crate::recipe::{config_map, recipe};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Nobody would see what becomes of a child without the label: that is said.
async fn says_that_the_label_is_missing(faults: &Faults) -> Value {
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let words = "keeps it without the label `app.kubernetes.io/managed-by`";
    faults.until_said("r", words).await;
    faults.until_warned("r", words).await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    assert!(child["metadata"]["labels"][MANAGED_BY].is_null(), "{child}");
    child
}

/// Once the label stays, so does the child, as the one that it was.
async fn is_well_once_the_label_stays(faults: &Faults, child: &Value) {
    faults.touch("r").await;
    faults.until_well("r").await;
    let now = faults.world.get(CONFIG_MAP, "c").await;
    assert_eq!(now["metadata"]["labels"][MANAGED_BY], "cook");
    assert_eq!(now["metadata"]["uid"], child["metadata"]["uid"]);
}

#[operetta_harness::test]
async fn a_webhook_that_takes_our_label_off_is_said_until_it_does_not() {
    let faults = Faults::start().await;
    let strip = Fault::rewrite_request(|child| {
        let labels = child["metadata"]["labels"].as_object_mut().unwrap();
        labels.remove(MANAGED_BY);
    });
    let stripped = faults.add(Rule::new(strip).verb("patch").resource("configmaps").name("c"));
    let child = says_that_the_label_is_missing(&faults).await;
    stripped.end();
    is_well_once_the_label_stays(&faults, &child).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn a_mutating_admission_policy_that_takes_our_label_off_is_said_until_it_does_not() {
    needs(Need::Policies);
    let faults = Faults::start().await;
    let has_label = "has(object.metadata.labels) && \
                     'app.kubernetes.io/managed-by' in object.metadata.labels";
    let patch = "[JSONPatch{op: 'remove', \
                 path: '/metadata/labels/app.kubernetes.io~1managed-by'}]";
    let policy = Policy::put_up(&faults, "configmaps", has_label, patch).await;
    let mut probe = config_map("probe", json!({}));
    probe["metadata"]["labels"] = json!({"probe": "yes", MANAGED_BY: "nobody"});
    let is_stripped = |made: &Value| made["metadata"]["labels"][MANAGED_BY].is_null();
    until_admitted(&faults, CONFIG_MAP, &probe, is_stripped).await;
    let child = says_that_the_label_is_missing(&faults).await;
    policy.take_down(&faults).await;
    until_admitted(&faults, CONFIG_MAP, &probe, |made| !is_stripped(made)).await;
    is_well_once_the_label_stays(&faults, &child).await;
    faults.end().await;
}
