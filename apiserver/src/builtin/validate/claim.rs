//! Claims of persistent volumes.

use serde_json::{Value, json};

use crate::{
    builtin::{path, quantity::Quantity},
    schema::{FieldError, FieldPath, name_rule},
};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// A claim has a size and access modes.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let modes = path::list(spec, "accessModes");
    if modes.is_empty() {
        let detail = "at least 1 access mode is required";
        errors.push(FieldError::required(&at.child("accessModes"), detail));
    }
    for mode in modes.iter().filter(|mode| !MODES.contains(&mode.as_str().unwrap_or_default())) {
        errors.push(FieldError::not_supported(&at.child("accessModes"), mode, MODES));
    }
    let storage = at.child("resources").key("storage");
    match path::get(spec, "resources.requests.storage") {
        None => errors.push(FieldError::required(&storage, "")),
        Some(size) if !Quantity::of(size).is_some_and(Quantity::is_positive) => {
            errors.push(FieldError::invalid(&storage, size, "must be greater than zero"));
        }
        Some(_) => {}
    }
    storage_class(spec, at, errors);
}

/// The class of a claim; an empty one means none.
fn storage_class(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let class = path::text(spec, "storageClassName");
    if class.is_empty() {
        return;
    }
    for detail in name_rule::dns_subdomain(class, false) {
        errors.push(FieldError::invalid(&at.child("storageClassName"), &json!(class), detail));
    }
}

/// The specification is immutable, but a bound claim may grow.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let mut expected = old.clone();
    if path::text(old, "status.phase") == "Bound" {
        path::copy(&mut expected, new, "spec.resources.requests");
        path::copy(&mut expected, new, "spec.volumeAttributesClassName");
    }
    if path::text(old, "spec.volumeName").is_empty() {
        path::copy(&mut expected, new, "spec.volumeName");
    }
    if path::get(old, "spec.storageClassName").is_none() {
        path::copy(&mut expected, new, "spec.storageClassName");
    }
    if expected["spec"] != new["spec"] {
        let detail = "spec is immutable after creation except resources.requests and \
                      volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
    let size = |claim| path::get(claim, "spec.resources.requests.storage").and_then(Quantity::of);
    let shrinks = size(new).zip(size(old)).is_some_and(|(new, old)| new.compare(old).is_lt());
    if shrinks && path::text(old, "status.phase") == "Bound" {
        let at = FieldPath::new("spec.resources.requests.storage");
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden(&at, detail));
    }
}
