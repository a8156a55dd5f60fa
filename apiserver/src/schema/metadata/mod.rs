//! Validation of `metadata`, the same for every type.
//!
//! Generated names, fields of the server (`uid`, `creationTimestamp`, ...) and immutable fields that are
//! restored rather than refused, are set before this. A value of the wrong JSON type is refused here with
//! another message than that of kube-apiserver, which refuses it earlier, while decoding.

mod managed_fields;
mod object_meta;
mod owners;
mod rules;
mod update;

use serde_json::Value;

pub use update::validate_update;

pub(super) use self::rules::label_errors;
use self::{
    object_meta::ObjectMeta,
    rules::{annotation_errors, invalid},
};
use super::{FieldError, FieldPath, name_rule};

/// The errors of the metadata of a created object.
///
/// `name_rule` is the rule for names of the type: `name_rule::dns_subdomain` for most.
pub fn validate_create(
    object: &Value,
    namespaced: bool,
    name_rule: name_rule::NameRule,
) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    match ObjectMeta::read(metadata, &path) {
        Ok(meta) => create_errors(&meta, namespaced, name_rule, &path),
        Err(error) => vec![error],
    }
}

/// The errors of the metadata of an embedded object, which needs no name.
pub(super) fn validate_embedded(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    match ObjectMeta::read(metadata, path) {
        Ok(mut meta) => {
            meta.name = if meta.name.is_empty() { "fakename" } else { meta.name };
            create_errors(&meta, !meta.namespace.is_empty(), name_rule::path_segment, path)
        }
        Err(error) => vec![error],
    }
}

fn create_errors(
    meta: &ObjectMeta<'_>,
    namespaced: bool,
    name_rule: name_rule::NameRule,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = name_errors(meta, name_rule, path);
    errors.extend(namespace_errors(meta.namespace, namespaced, &path.child("namespace")));
    if meta.generation < 0 {
        let detail = "must be greater than or equal to 0";
        let generation = meta.generation.into();
        errors.push(FieldError::invalid(&path.child("generation"), &generation, detail));
    }
    errors.extend(label_errors(meta.labels, &path.child("labels")));
    errors.extend(annotation_errors(meta.annotations, &path.child("annotations")));
    errors.extend(owners::errors(meta.owner_references, &path.child("ownerReferences")));
    errors.extend(finalizer_errors(&meta.finalizers, &path.child("finalizers")));
    errors.extend(managed_fields::errors(meta.managed_fields, &path.child("managedFields")));
    errors
}

fn name_errors(
    meta: &ObjectMeta<'_>,
    rule: name_rule::NameRule,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !meta.generate_name.is_empty() {
        let broken = rule(meta.generate_name, true);
        errors.extend(invalid(&path.child("generateName"), meta.generate_name, broken));
    }
    if meta.name.is_empty() {
        let detail = "name or generateName is required";
        errors.push(FieldError::required(&path.child("name"), detail));
    } else {
        errors.extend(invalid(&path.child("name"), meta.name, rule(meta.name, false)));
    }
    errors
}

fn namespace_errors(namespace: &str, namespaced: bool, path: &FieldPath) -> Vec<FieldError> {
    match (namespaced, namespace.is_empty()) {
        (true, true) => vec![FieldError::required(path, "")],
        (true, false) => invalid(path, namespace, name_rule::dns_label(namespace, false)),
        (false, true) => Vec::new(),
        (false, false) => vec![FieldError::forbidden(path, "not allowed on this type")],
    }
}

fn finalizer_errors(finalizers: &[&str], path: &FieldPath) -> Vec<FieldError> {
    const EXCLUSIVE: [&str; 2] = ["foregroundDeletion", "orphan"];
    let mut errors: Vec<_> = finalizers
        .iter()
        .flat_map(|name| invalid(path, name, name_rule::label_key(name)))
        .collect();
    if EXCLUSIVE.iter().all(|name| finalizers.contains(name)) {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(path, &finalizers.into(), detail));
    }
    errors
}

#[cfg(test)]
mod tests;
