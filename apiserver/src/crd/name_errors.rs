//! What the names of a definition may look like.

use serde_json::{Value, json};

use crate::schema::{FieldError, FieldPath, name_rule};

/// The names that a specification must have.
pub(super) fn required(names: &Value, path: &FieldPath) -> Vec<FieldError> {
    let absent = ["plural", "singular", "kind", "listKind"]
        .into_iter()
        .filter(|field| names[*field].as_str().unwrap_or_default().is_empty());
    absent.map(|field| FieldError::required(&path.child(field), "")).collect()
}

/// The errors of the names that are given.
pub(super) fn errors(names: &Value, path: &FieldPath) -> Vec<FieldError> {
    let text = |field: &str| names[field].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    for field in ["plural", "singular"] {
        errors.extend(label_error(text(field), "", &path.child(field)));
    }
    for field in ["kind", "listKind"] {
        let prefix = "may have mixed case, but should otherwise match: ";
        errors.extend(label_error(text(field), prefix, &path.child(field)));
    }
    errors.extend(list_errors(names, "shortNames", path));
    if !text("kind").is_empty() && text("kind") == text("listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&path.child("listKind"), &names["listKind"], detail));
    }
    errors.extend(list_errors(names, "categories", path));
    errors
}

fn label_error(name: &str, prefix: &str, path: &FieldPath) -> Option<FieldError> {
    let judged = if prefix.is_empty() { name.to_owned() } else { name.to_lowercase() };
    let wrong = name_rule::dns_1035_label(&judged, false);
    (!name.is_empty() && !wrong.is_empty())
        .then(|| FieldError::invalid(path, &json!(name), format!("{prefix}{}", wrong.join(","))))
}

fn list_errors(names: &Value, field: &str, path: &FieldPath) -> Vec<FieldError> {
    let names = names[field].as_array().into_iter().flatten().enumerate();
    let wrong = names.filter_map(|(at, name)| {
        let wrong = name_rule::dns_1035_label(name.as_str().unwrap_or_default(), false);
        (!wrong.is_empty())
            .then(|| FieldError::invalid(&path.child(field).index(at), name, wrong.join(",")))
    });
    wrong.collect()
}
