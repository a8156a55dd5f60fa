//! Replication controllers, whose selector is a plain map.

use serde_json::json;

use super::{
    super::field::{Errors, Field},
    super::selector,
    template,
};

/// The specification of a `ReplicationController`.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    spec.integer("minReadySeconds").is_not_negative(errors);
    let wanted = spec.child("selector");
    wanted.is_required("", errors);
    spec.integer("replicas").is_not_negative(errors);
    let own = spec.child("template");
    if !own.is_given() {
        errors.push(own.required(""));
        return;
    }
    let labels = own.child("metadata").child("labels");
    let none = serde_json::Map::new();
    let given = labels.value().as_object().unwrap_or(&none);
    let selector = json!({ "matchLabels": wanted.value() });
    if !wanted.is_empty() && !selector::matches(&selector, given) {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
    template(spec, "ReplicationController", errors);
}
