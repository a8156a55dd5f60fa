//! The annotation in which `kubectl apply` keeps what it applied, and the migration to server-side apply.
//!
//! Only for the field manager `kubectl`, as in the real server: fields that are unchanged since the
//! client-side apply are taken over without a conflict, and the annotation is updated.

use serde_json::Value;

use super::{
    compare::compare,
    field_set::FieldSet,
    go_format::json,
    object, owned,
    shape::Type,
    validate::{Duplicates, validate},
};

/// The field manager of `kubectl apply --server-side`.
pub(super) const KUBECTL: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How large all annotations of an object may be together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The fields of the annotation that `live` has with the same values; none without annotation.
pub(super) fn unchanged_fields(ty: Type<'_>, live: &Value) -> FieldSet {
    let Some(applied) = last_applied(live).and_then(|text| serde_json::from_str(text).ok()) else {
        return FieldSet::default();
    };
    let same_version = object::api_version(&applied) == object::api_version(live);
    let valid = |object| validate(object, ty, Duplicates::Forbidden).is_ok();
    if !same_version || !valid(&applied) || !valid(live) {
        return FieldSet::default();
    }
    let change = compare(ty, &applied, live);
    owned::field_set(ty, &applied).difference(&change.set()).difference(&change.removed)
}

/// `result` with `applied` in its annotation, if it has one.
pub(super) fn brought_up_to_date(mut result: Value, applied: &Value) -> Value {
    if last_applied(&result).is_none_or(str::is_empty) {
        return result;
    }
    let text = format!("{}\n", json(&without_annotation(applied)));
    let annotations = &mut result["metadata"]["annotations"];
    annotations[ANNOTATION] = Value::from(text);
    if size(annotations) > MAX_ANNOTATIONS
        && let Some(annotations) = annotations.as_object_mut()
    {
        annotations.remove(ANNOTATION);
    }
    result
}

fn last_applied(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()
}

fn without_annotation(applied: &Value) -> Value {
    let mut applied = applied.clone();
    let annotations = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove(ANNOTATION);
    }
    applied
}

fn size(annotations: &Value) -> usize {
    let pairs = annotations.as_object().into_iter().flatten();
    pairs.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum()
}
