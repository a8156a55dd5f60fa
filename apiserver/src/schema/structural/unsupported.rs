//! Rules of kube-apiserver that this server does not support.

use serde_json::Value;

use super::inner;
use crate::schema::{FieldPath, crd::text, validate::format};

/// The paths of unsupported rules in a schema, so that it is refused instead of ignoring them.
///
/// They are formats of strings.
pub fn unsupported(schema: &Value, path: &FieldPath) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, path, &mut found);
    found
}

fn visit(schema: &Value, path: &FieldPath, found: &mut Vec<String>) {
    if let Some(name) = text(schema, "format").filter(|name| format::is_not_judged(name)) {
        found.push(format!("{}: {name}", path.child("format")));
    }
    for (_, path, field) in inner::properties(schema, path) {
        visit(field, &path, found);
    }
    if let Some(values) = inner::additional_properties(schema) {
        visit(values, &path.child("additionalProperties"), found);
    }
    if let Some(item) = inner::items(schema) {
        visit(item, &path.child("items"), found);
    }
    for (path, branch) in inner::branches(schema, path) {
        visit(branch, &path, found);
    }
}
