//! How evenly pods are spread over places.

use super::{
    super::{
        field::{Errors, Field},
        selector,
    },
    affinity,
};
use crate::schema::{FieldError, go_value::quote};

/// The constraints of a pod; no two of the same kind.
pub(super) fn constraints(list: &Field, errors: &mut Errors) {
    let constraints = list.items();
    for (index, constraint) in constraints.iter().enumerate() {
        let skew = constraint.integer("maxSkew");
        if skew.number() <= 0 {
            errors.push(skew.invalid("must be greater than zero"));
        }
        constraint.string("topologyKey").is_required("can not be empty", errors);
        let action = constraint.string("whenUnsatisfiable");
        action.is_one_of(&["DoNotSchedule", "ScheduleAnyway"], errors);
        not_repeated(constraint, &constraints[index + 1..], errors);
        least_domains(constraint, action.text(), errors);
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = constraint.given(policy) {
                policy.is_one_of(&["Honor", "Ignore"], errors);
            }
        }
        affinity::label_keys(constraint, errors);
        if let Some(labels) = constraint.given("labelSelector") {
            selector::check(&labels, errors);
        }
    }
}

fn not_repeated(constraint: &Field, others: &[Field], errors: &mut Errors) {
    let kind = |constraint: &Field| {
        let text = |name| constraint.string(name).text().to_owned();
        format!("{{{}, {}}}", text("topologyKey"), text("whenUnsatisfiable"))
    };
    let own = kind(constraint);
    if others.iter().any(|other| kind(other) == own) {
        let at = constraint.at().child("{topologyKey, whenUnsatisfiable}");
        let error = constraint.named(at).duplicate();
        errors.push(FieldError { value: Some(quote(&own)), ..error });
    }
}

fn least_domains(constraint: &Field, action: &str, errors: &mut Errors) {
    let Some(least) = constraint.given("minDomains") else { return };
    if least.number() <= 0 {
        errors.push(least.invalid("must be greater than zero"));
    }
    if action != "DoNotSchedule" {
        let detail =
            format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
        errors.push(least.invalid(detail));
    }
}
