//! Schemas below `allOf`, `anyOf`, `oneOf` and `not`: they restrict, they do not declare.

use serde_json::{Value, json};

use super::inner::{branches, items, properties};
use crate::schema::{
    FieldError, FieldPath,
    crd::{flag, list},
    validate::pattern,
};

/// The errors of the value rules of a schema.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit_rules(schema, path, &mut errors);
    errors
}

fn visit_rules(schema: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let excused = int_or_string(schema, path);
    for (path, branch) in branches(schema, path) {
        if !excused.contains(&path) {
            visit(branch, &path, &excused, errors);
        }
    }
    if let Some(Err(error)) = schema.get("pattern").and_then(Value::as_str).map(pattern::parse) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(&path.child("pattern"), &schema["pattern"], detail));
    }
}

/// The positions where the types of an int-or-string may be written out.
fn int_or_string(schema: &Value, path: &FieldPath) -> Vec<FieldPath> {
    let spelled = json!([{"type": "integer"}, {"type": "string"}]);
    let mut excused = Vec::new();
    if schema.get("anyOf") == Some(&spelled) {
        excused.extend([0, 1].map(|index| path.child("anyOf").index(index)));
    }
    if list(schema, "allOf").first().and_then(|first| first.get("anyOf")) == Some(&spelled) {
        let first = path.child("allOf").index(0);
        excused.extend([0, 1].map(|index| first.child("anyOf").index(index)));
    }
    excused
}

fn visit(branch: &Value, path: &FieldPath, excused: &[FieldPath], errors: &mut Vec<FieldError>) {
    let mut inner = Vec::new();
    visit_rules(branch, path, &mut inner);
    let of_excused =
        |error: &FieldError| excused.iter().any(|path| error.path.starts_with(&format!("{path}.")));
    errors.extend(inner.into_iter().filter(|error| !of_excused(error)));
    if let Some(item) = items(branch) {
        visit(item, &path.child("items"), &[], errors);
    }
    for (name, path, field) in properties(branch, path) {
        visit(field, &path, &[], errors);
        if name == "metadata" {
            errors.push(FieldError::forbidden(&path, "must not be specified in a nested context"));
        }
    }
    errors.extend(declarations(branch, path));
}

fn declarations(branch: &Value, path: &FieldPath) -> Vec<FieldError> {
    let texts = ["type", "title", "description"].map(|name| (name, "must be empty"));
    let flags = [
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ];
    let values =
        ["default", "additionalProperties", "x-kubernetes-list-type", "x-kubernetes-map-type"];
    let lists = ["x-kubernetes-list-map-keys", "x-kubernetes-validations"];
    let texts = texts.into_iter().filter(|(name, _)| branch.get(name).is_some_and(|v| v != ""));
    let flags = flags.into_iter().filter(|name| flag(branch, name));
    let values = values.into_iter().filter(|name| branch.get(name).is_some_and(|v| !v.is_null()));
    let lists = lists.into_iter().filter(|name| !list(branch, name).is_empty());
    texts
        .chain(flags.map(|name| (name, "must be false")))
        .chain(values.map(|name| (name, "must be undefined")))
        .chain(lists.map(|name| (name, "must be empty")))
        .map(|(name, must)| {
            FieldError::forbidden(&path.child(name), format!("{must} to be structural"))
        })
        .collect()
}
