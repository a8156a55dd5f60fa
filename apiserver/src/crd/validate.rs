//! Validates definitions, with the messages of the real server and in its order.
//!
//! The metadata are validated before, as of every object.

use serde_json::{Value, json};

use super::{approval, conditions, name_errors, ratchet::Allowed, spec, stored};
use crate::schema::{FieldError, FieldPath};

/// The errors of a new definition.
pub(crate) fn validate(definition: &Value) -> Vec<FieldError> {
    let mut errors = own_name_errors(definition);
    errors.extend(spec::errors(&definition["spec"], &Allowed::default()));
    errors.extend(status_errors(definition));
    errors.extend(approval::errors(definition, None));
    errors.extend(preserve_errors(definition));
    errors
}

/// The errors of a changed definition. What was wrong before it was changed may stay so.
pub(crate) fn validate_update(definition: &Value, before: &Value) -> Vec<FieldError> {
    let mut errors = spec::errors(&definition["spec"], &Allowed::after(before, definition));
    let names = FieldPath::new("spec").child("names");
    // What is stored depends on these.
    if conditions::is_true(before, "Established") {
        errors.extend(immutable(definition, before, "/spec/scope", &FieldPath::new("spec.scope")));
        errors.extend(immutable(definition, before, "/spec/names/kind", &names.child("kind")));
    }
    errors.extend(immutable(definition, before, "/spec/group", &FieldPath::new("spec.group")));
    errors.extend(immutable(definition, before, "/spec/names/plural", &names.child("plural")));
    errors.extend(status_errors(definition));
    errors.extend(approval::errors(definition, Some(before)));
    if before["spec"]["preserveUnknownFields"] != true {
        errors.extend(preserve_errors(definition));
    }
    errors
}

/// The errors of a written status.
pub(crate) fn validate_status(definition: &Value) -> Vec<FieldError> {
    accepted_errors(&definition["status"])
}

fn status_errors(definition: &Value) -> Vec<FieldError> {
    let mut errors = accepted_errors(&definition["status"]);
    errors.extend(stored::errors(definition));
    errors
}

fn accepted_errors(status: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("status").child("acceptedNames");
    name_errors::errors(&status["acceptedNames"], &path)
}

/// A definition is called after what it defines.
fn own_name_errors(definition: &Value) -> Vec<FieldError> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
    let plural = text("/spec/names/plural").unwrap_or_default();
    let expected = format!("{plural}.{}", text("/spec/group").unwrap_or_default());
    let path = FieldPath::new("metadata");
    let named = ["generateName", "name"].map(|field| (field, &definition["metadata"][field]));
    let wrong = named
        .into_iter()
        .filter(|(_, name)| name.as_str().is_some_and(|name| !name.is_empty() && name != expected));
    wrong
        .map(|(field, name)| {
            let detail = "must be spec.names.plural+\".\"+spec.group";
            FieldError::invalid(&path.child(field), name, detail)
        })
        .collect()
}

fn immutable(
    definition: &Value,
    before: &Value,
    pointer: &str,
    path: &FieldPath,
) -> Option<FieldError> {
    let value = |object: &Value| object.pointer(pointer).cloned().unwrap_or_default();
    let (new, old) = (value(definition), value(before));
    (new != old).then(|| FieldError::invalid(path, &new, "field is immutable"))
}

fn preserve_errors(definition: &Value) -> Option<FieldError> {
    let path = FieldPath::new("spec").child("preserveUnknownFields");
    let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                  spec.versions[*].schema instead";
    (definition["spec"]["preserveUnknownFields"] == true)
        .then(|| FieldError::invalid(&path, &json!(true), detail))
}
