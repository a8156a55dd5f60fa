//! Which objects a workload controls, by owner reference and selector: adoption and release.

use serde_json::{Map, Value, json};

use super::{
    decision::Decision,
    object::{controller, is_controlled_by, is_deleting, items, owner_reference},
};
use crate::builtin;

/// The candidates that a workload controls. Matching ones without a controller are adopted, and those that do not
/// match any more are released: a later decision sees them.
pub(super) fn controlled<'a>(
    owner: &Value,
    candidates: &'a [Value],
    decision: &mut Decision,
) -> Vec<&'a Value> {
    let mut controlled = Vec::new();
    for candidate in candidates {
        let matches = is_selected(owner, candidate);
        if is_controlled_by(candidate, owner) {
            if matches || is_deleting(owner) || is_deleting(candidate) {
                controlled.push(candidate);
            } else {
                release(owner, candidate, decision);
            }
        } else if matches
            && controller(candidate).is_none()
            && !is_deleting(owner)
            && !is_deleting(candidate)
        {
            adopt(owner, candidate, decision);
        }
    }
    controlled
}

/// Whether the selector of a workload selects an object.
pub(super) fn is_selected(owner: &Value, candidate: &Value) -> bool {
    let none = Map::new();
    let labels = candidate["metadata"]["labels"].as_object().unwrap_or(&none);
    let selector = &owner["spec"]["selector"];
    selector.is_object() && builtin::selects(selector, labels)
}

fn adopt(owner: &Value, candidate: &Value, decision: &mut Decision) {
    let mut owners: Vec<Value> =
        items(&candidate["metadata"]["ownerReferences"]).cloned().collect();
    owners.push(owner_reference(owner));
    decision.patch(candidate, json!({ "metadata": { "ownerReferences": owners } }));
}

fn release(owner: &Value, candidate: &Value, decision: &mut Decision) {
    let owners = items(&candidate["metadata"]["ownerReferences"]);
    let others: Vec<&Value> =
        owners.filter(|reference| reference["uid"] != owner["metadata"]["uid"]).collect();
    let others = if others.is_empty() { Value::Null } else { json!(others) };
    decision.patch(candidate, json!({ "metadata": { "ownerReferences": others } }));
}
