//! Validates the fields that selectors may name.

use serde_json::{Value, json};

use super::form::Part;
use crate::{
    cel,
    schema::{FieldError, Schema, SchemaType},
};

/// How many fields may be selectable.
const MOST: i32 = 8;

/// The errors of selectable fields; `none` is said without a schema.
pub(super) fn errors(
    fields: &Part<'_>,
    schema: Option<&Value>,
    none: &str,
    may_be_many: bool,
) -> Vec<FieldError> {
    let Some(schema) = schema else {
        return vec![FieldError::invalid(&fields.path, &json!(""), none)];
    };
    let schema = Schema::from_open_api(schema);
    let (mut errors, mut seen) = (Vec::new(), Vec::new());
    for (at, field) in fields.value.as_array().into_iter().flatten().enumerate() {
        let path = fields.path.index(at).child("jsonPath");
        let given = &field["jsonPath"];
        let text = given.as_str().unwrap_or_default();
        if text.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        match cel::selected_field(text, &schema) {
            Ok((name, found)) => {
                errors.extend(
                    of_found(&name, found).map(|detail| FieldError::invalid(&path, given, detail)),
                );
                if seen.contains(&name) {
                    errors.push(FieldError::duplicate(&path, given));
                } else {
                    seen.push(name);
                }
            }
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                errors.push(FieldError::invalid(&path, given, detail));
            }
        }
    }
    if seen.len() > MOST.unsigned_abs() as usize && !may_be_many {
        errors.push(FieldError::too_many(&fields.path, seen.len(), MOST));
    }
    errors
}

fn of_found(name: &str, found: &Schema) -> impl Iterator<Item = &'static str> {
    let root = name.split(['.', '[']).next();
    let in_metadata = (root == Some("metadata")).then_some("must not point to fields in metadata");
    let is_allowed =
        matches!(found.ty, Some(SchemaType::String | SchemaType::Boolean | SchemaType::Integer));
    let type_error = (!is_allowed).then_some(
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
    );
    in_metadata.into_iter().chain(type_error)
}
