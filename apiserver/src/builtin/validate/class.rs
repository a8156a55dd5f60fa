//! Classes of pods: their priority, and the runtime that they need.

use std::collections::BTreeSet;

use super::{
    field::{Errors, Field},
    immutable, pod, selector, shown,
};
use crate::schema::{FieldError, name_rule};

/// The highest priority that a user may give.
const HIGHEST: i64 = 1_000_000_000;

/// The classes of the system itself, with their priorities.
const SYSTEM: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// A `PriorityClass`.
pub(super) fn priority(class: &Field, errors: &mut Errors) {
    let (name, value) = (class.child("metadata").string("name"), class.integer("value"));
    if name.text().starts_with("system-") {
        if let Some(why) = not_of_system(class, name.text(), value.number()) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. \
                 error: {why}"
            );
            errors.push(name.forbidden(detail));
        }
    } else if value.number() > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.push(value.forbidden(detail));
    }
    if let Some(policy) = class.given("preemptionPolicy") {
        pod::preemption_policy(&policy, errors);
    }
}

/// The value of a class never changes.
pub(super) fn priority_update(new: &Field, old: &Field, errors: &mut Errors) {
    let value = new.integer("value");
    if value.number() != old.integer("value").number() {
        errors.push(value.forbidden("may not be changed in an update."));
    }
    immutable::field(new, old, "preemptionPolicy", errors);
}

fn not_of_system(class: &Field, name: &str, value: i64) -> Option<String> {
    let Some((_, expected)) = SYSTEM.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if value != *expected {
        return Some(format!("value of {name} PriorityClass must be {expected}"));
    }
    let is_default = class.child("globalDefault").flag();
    is_default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}

/// A `RuntimeClass`.
pub(super) fn runtime(class: &Field, errors: &mut Errors) {
    let handler = class.string("handler");
    handler.is_required("", errors);
    handler.follows_unless_empty(name_rule::dns_label, errors);
    if let Some(overhead) = class.given("overhead") {
        let amounts = overhead.child("podFixed").named(overhead.at().child("limits"));
        pod::resources::amounts(&amounts, errors);
    }
    let Some(scheduling) = class.given("scheduling") else { return };
    selector::labels(&scheduling.child("nodeSelector"), errors);
    let tolerations = scheduling.child("tolerations");
    pod::toleration::all(&tolerations, errors);
    let mut known = BTreeSet::new();
    for toleration in tolerations.items() {
        let text = |name| toleration.string(name).text().to_owned();
        if !known.insert([text("key"), text("operator"), text("value"), text("effect")]) {
            let print = shown::go("core.Toleration", toleration.value());
            errors.push(FieldError { value: Some(print), ..toleration.duplicate() });
        }
    }
}
