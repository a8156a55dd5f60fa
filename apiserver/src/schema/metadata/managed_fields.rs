//! The entries of `managedFields`, as far as they are plain values.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath, go_value};

const MANAGER_LIMIT: u64 = 128;
const SUBRESOURCE_LIMIT: u64 = 256;

/// The errors of the entries.
pub(super) fn errors(entries: &[Value], path: &FieldPath) -> Vec<FieldError> {
    let entries = entries.iter().enumerate();
    entries.flat_map(|(index, entry)| entry_errors(entry, &path.index(index))).collect()
}

fn entry_errors(entry: &Value, path: &FieldPath) -> Vec<FieldError> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let invalid = |name: &str, detail: &str| {
        FieldError::invalid(&path.child(name), &text(name).into(), detail)
    };
    let mut errors = Vec::new();
    if !matches!(text("operation"), "Apply" | "Update") {
        errors.push(invalid("operation", "must be `Apply` or `Update`"));
    }
    if !matches!(text("fieldsType"), "" | "FieldsV1") {
        errors.push(invalid("fieldsType", "must be `FieldsV1`"));
    }
    errors.extend(field_manager_errors(text("manager"), &path.child("manager")));
    if text("subresource").len() as u64 > SUBRESOURCE_LIMIT {
        errors.push(FieldError::too_long(&path.child("subresource"), SUBRESOURCE_LIMIT));
    }
    errors
}

/// The errors of the name of a field manager.
pub(in crate::schema) fn field_manager_errors(manager: &str, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() as u64 > MANAGER_LIMIT {
        errors.push(FieldError::too_long(path, MANAGER_LIMIT));
    }
    for (position, character) in manager.char_indices().filter(|(_, c)| go_value::is_invisible(*c))
    {
        let code = u32::from(character);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.push(FieldError::invalid(path, &manager.into(), detail));
    }
    errors
}
