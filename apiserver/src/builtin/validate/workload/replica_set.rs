//! Replica sets, and what they have in common with deployments.

use super::{
    super::{
        field::{Errors, Field},
        immutable, selector,
    },
    required_selector, template, template_labels,
};

/// The specification of a `ReplicaSet`.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    spec.integer("replicas").is_not_negative(errors);
    spec.integer("minReadySeconds").is_not_negative(errors);
    let wrong = "invalid label selector";
    // The real server says it of replica sets too.
    if required_selector(spec, "empty selector is invalid for deployment", wrong, errors) {
        selected_template(spec, errors);
    }
}

/// The selector never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::selector(new, old, errors);
}

/// A template that the selector matches.
pub(super) fn selected_template(spec: &Field, errors: &mut Errors) {
    if !spec.given("selector").is_some_and(|labels| selector::is_empty(labels.value())) {
        template_labels(spec, errors);
    }
    template(spec, "ReplicaSet", errors);
}
