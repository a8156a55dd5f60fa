//! References of pods to config maps and secrets: in their environment and as volumes.

use serde_json::{Value, json};

use super::config;
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

/// The name and the key that a variable takes its value from.
pub(super) fn env_var_source(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for field in ["configMapKeyRef", "secretKeyRef"] {
        let Some(reference) = path::get(source, field) else { continue };
        let at = at.child(field);
        object_name(reference, &at, errors);
        let key = path::text(reference, "key");
        for detail in if key.is_empty() { Vec::new() } else { config::key_errors(key) } {
            errors.push(FieldError::invalid(&at.child("key"), &json!(key), detail));
        }
    }
    resource_field(source, at, errors);
}

/// A whole config map or secret as environment. An error about its absence names the list, not the element.
pub(super) fn env_from(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut references = ["configMapRef", "secretRef"]
        .into_iter()
        .filter_map(|field| Some((field, path::get(source, field)?)));
    let Some((field, reference)) = references.next() else {
        let detail = "must specify one of: `configMapRef` or `secretRef`";
        errors.push(FieldError::invalid(&at.list(), &json!(""), detail));
        return;
    };
    let at = at.child(field);
    if path::text(reference, "name").is_empty() {
        errors.push(FieldError::required(&at.child("name"), ""));
    } else {
        object_name(reference, &at, errors);
    }
}

/// The name that a volume refers to, and the mode of its files.
pub(super) fn volume_source(
    of: &str,
    source: &Value,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let field = if of == "core.v1.SecretVolumeSource" { "secretName" } else { "name" };
    if path::text(source, field).is_empty() {
        errors.push(FieldError::required(&at.child(field), ""));
    }
    mode(source, "defaultMode", at, errors);
}

/// Permissions of a file.
pub(super) fn mode(source: &Value, field: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(mode) = path::number(source, field).filter(|mode| !(0..=0o777).contains(mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.push(FieldError::invalid(&at.child(field), &json!(mode), detail));
    }
}

fn object_name(reference: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(reference, "name");
    for detail in name_rule::dns_subdomain(name, false) {
        errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
    }
}

fn resource_field(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    const RESOURCES: [&str; 6] = [
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
    ];
    let Some(resource) = path::get(source, "resourceFieldRef.resource") else { return };
    let text = resource.as_str().unwrap_or_default();
    let is_huge_page =
        text.starts_with("limits.hugepages-") || text.starts_with("requests.hugepages-");
    if !text.is_empty() && !is_huge_page && !RESOURCES.contains(&text) {
        let at = at.child("resourceFieldRef").child("resource");
        errors.push(FieldError::not_supported(&at, resource, RESOURCES));
    }
}
