//! Disruption budgets: how many pods of a group may be missing on purpose.

use super::{
    field::{Errors, Field},
    number, selector, shown,
};

/// The specification of a budget, which has one bound.
pub(super) fn budget(spec: &Field, errors: &mut Errors) {
    let bounds = ["minAvailable", "maxUnavailable"].map(|name| spec.child(name));
    if bounds.iter().all(Field::is_given) {
        let print = shown::go("policy.PodDisruptionBudgetSpec", spec.value());
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.push(spec.invalid_as(print, detail));
    }
    for bound in bounds.iter().filter(|bound| bound.is_given()) {
        number::amount(bound, errors);
        number::at_most_all(bound, errors);
    }
    if let Some(labels) = spec.given("selector") {
        selector::check(&labels, errors);
    }
    if let Some(policy) = spec.given("unhealthyPodEvictionPolicy") {
        policy.is_one_of(&["AlwaysAllow", "IfHealthyBudget"], errors);
    }
}
