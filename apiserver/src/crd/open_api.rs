//! Validates the schemas of a definition: their form, their defaults, their keywords and rules.

use serde_json::{Value, json};

use super::{form::Part, ratchet::OfVersion};
use crate::{
    cel::{self, Compile},
    schema::{FieldError, FieldPath, Schema, Validator, default_errors, form_errors, go_schema},
};

/// The Go names of the fields that a root may have beside a status of its own.
const ALLOWED_AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// The errors of the schema of one version or of all.
pub(super) fn errors(
    validation: &Part<'_>,
    has_status: bool,
    allowed: OfVersion<'_>,
) -> Vec<FieldError> {
    let schema = &validation.value["openAPIV3Schema"];
    if schema.is_null() {
        return Vec::new();
    }
    let path = validation.path.child("openAPIV3Schema");
    let mut errors = Vec::new();
    if has_status {
        errors.extend(root_error(schema, &path));
    }
    if schema["nullable"] == true {
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(&path.child("nullable"), detail));
    }
    let (of_form, unreadable) = match form_and_default_errors(schema, &path, allowed) {
        Ok(of_form) => (of_form, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let compile = match (of_form.is_empty() && unreadable.is_none(), allowed.is_unchanged) {
        (false, _) => Compile::No,
        (true, false) => Compile::Yes,
        (true, true) => Compile::Unchanged,
    };
    errors.extend(of_form);
    let (of_schema, of_cost) = cel::definition_errors(schema, &path, allowed.strictness, compile);
    errors.extend(of_schema);
    if let Some(why) = unreadable.filter(|_| errors.is_empty()) {
        errors.push(FieldError::invalid(&path, &json!(""), why));
    }
    errors.extend(of_cost);
    if errors.is_empty()
        && let Err(error) = Validator::new(Schema::from_open_api(schema))
    {
        errors.push(FieldError::invalid(&validation.path, &json!(""), error.to_string()));
    }
    errors
}

/// The status is validated alone by its part of the schema: what stands at the root would be lost.
fn root_error(schema: &Value, path: &FieldPath) -> Option<FieldError> {
    let ty = schema["type"].as_str().unwrap_or_default();
    let other = go_schema::first_other(schema, &ALLOWED_AT_ROOT);
    // The type is looked at in its turn.
    let is_before_type = matches!(other, Some("ID" | "Schema" | "Ref"));
    if !matches!(ty, "" | "object") && !is_before_type {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status \
                      subresource is enabled";
        return Some(FieldError::invalid(&path.child("type"), &json!(ty), detail));
    }
    other.map(|_| {
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            ALLOWED_AT_ROOT.join(" ")
        );
        let error = FieldError::invalid(path, &Value::Null, detail);
        FieldError { value: Some(go_schema::print(schema)), ..error }
    })
}

fn form_and_default_errors(
    schema: &Value,
    path: &FieldPath,
    allowed: OfVersion<'_>,
) -> Result<Vec<FieldError>, &'static str> {
    let errors = form_errors(schema, path)?;
    if !errors.is_empty() {
        return Ok(errors);
    }
    let rules = |schema: &Schema, is_object: bool, path: &FieldPath, default: &Value| {
        let rules = cel::Rules::of_values(schema, is_object);
        rules.map(|rules| rules.validate_default(path, default)).unwrap_or_default()
    };
    Ok(default_errors(schema, path, allowed.strictness.pruned_defaults, &rules))
}
