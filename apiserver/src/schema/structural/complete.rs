//! A schema must declare every field that it restricts.

use serde_json::Value;

use super::inner::{branches, items, properties};
use crate::schema::{FieldError, FieldPath};

/// The fields and elements that are restricted at the root but not declared.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit_branches(schema, schema, path, path, &mut errors);
    errors
}

fn visit_branches(
    rules: &Value,
    declared: &Value,
    at: &FieldPath,
    rules_at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    for (rules_at, branch) in branches(rules, rules_at) {
        visit(branch, Some(declared), at, &rules_at, errors);
    }
}

fn visit(
    rules: &Value,
    declared: Option<&Value>,
    at: &FieldPath,
    rules_at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(declared) = declared else {
        errors.push(FieldError::required(at, format!("because it is defined in {rules_at}")));
        return;
    };
    visit_branches(rules, declared, at, rules_at, errors);
    if let Some(item) = items(rules) {
        visit(item, items(declared), &at.child("items"), &rules_at.child("items"), errors);
    }
    for (name, rules_at, field) in properties(rules, rules_at) {
        let declared = declared.get("properties").and_then(|properties| properties.get(name));
        visit(field, declared, &at.child("properties").key(name), &rules_at, errors);
    }
}
