//! Daemon sets.

use super::{
    super::{
        field::{Errors, Field},
        immutable, number, selector, shown,
    },
    amount_of, template, template_labels,
};
use crate::schema::FieldError;

/// The specification of a `DaemonSet`.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    let labels = spec.child("selector");
    let before = errors.len();
    if labels.is_given() {
        selector::check(&labels, errors);
    }
    if errors.len() == before {
        template_labels(spec, errors);
    }
    if labels.is_given() && selector::is_empty(labels.value()) {
        errors.push(labels.invalid_as("{}".to_owned(), "empty selector is invalid for daemonset"));
    }
    template(spec, "DaemonSet", errors);
    spec.integer("minReadySeconds").is_not_negative(errors);
    strategy(&spec.child("updateStrategy"), errors);
    spec.integer("revisionHistoryLimit").is_not_negative(errors);
}

/// The selector never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::selector(new, old, errors);
}

fn strategy(strategy: &Field, errors: &mut Errors) {
    match strategy.string("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => match strategy.given("rollingUpdate") {
            Some(rolling) => rolling_update(&rolling, errors),
            None => errors.push(strategy.child("rollingUpdate").required("")),
        },
        _ => {
            let print = shown::go("apps.DaemonSetUpdateStrategy", strategy.value());
            let error = strategy.not_supported(&["RollingUpdate", "OnDelete"]);
            errors.push(FieldError { value: Some(print), ..error });
        }
    }
}

/// Pods are replaced before or after the new one is there, not both.
fn rolling_update(rolling: &Field, errors: &mut Errors) {
    let fields = ["maxUnavailable", "maxSurge"].map(|name| rolling.integer(name));
    for field in &fields {
        number::amount(field, errors);
    }
    for field in &fields {
        number::at_most_all(field, errors);
    }
    let [unavailable, surge] = fields;
    match (amount_of(&unavailable), amount_of(&surge)) {
        (0, 0) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
        (_, 0) | (0, _) => {}
        _ => errors.push(surge.invalid("may not be set when maxUnavailable is non-zero")),
    }
}
