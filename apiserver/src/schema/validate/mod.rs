//! Validates an object by its schema, with the messages of kube-apiserver.
//!
//! The `jsonschema` crate applies the rules of JSON Schema: the schema is translated for it, and its errors
//! are translated back. Unique list elements and the metadata of embedded resources are validated here.
//! `x-kubernetes-validations` is the part of `cel`.

mod combine;
pub(super) mod embedded;
mod factor;
pub(super) mod format;
mod list_type;
mod number;
pub(super) mod pattern;
mod translate;
mod walk;
mod wording;

use serde_json::Value;
use thiserror::Error;

pub(crate) use format::has_format;
pub(crate) use pattern::parse as compile_pattern;

use super::{FieldError, FieldPath, Schema};

/// A compiled schema, one per version of a resource.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    json_schema: Value,
    compiled: jsonschema::Validator,
}

/// A schema cannot be compiled, for example because of a pattern.
#[derive(Debug, Error)]
#[error("error building validator: {at}: {reason}")]
pub struct ValidatorError {
    at: String,
    reason: String,
}

impl Validator {
    /// Compiles a schema of objects, or of values inside of objects.
    pub fn new(schema: Schema) -> Result<Self, ValidatorError> {
        let json_schema = translate::json_schema(&schema);
        let compiled = translate::options().build(&json_schema).map_err(|error| {
            ValidatorError { at: error.instance_path().to_string(), reason: error.to_string() }
        })?;
        Ok(Self { schema, json_schema, compiled })
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The errors of a created or updated object.
    ///
    /// `old` is the object before an update. It is not used yet: kube-apiserver ignores errors of unchanged
    /// fields ("ratcheting"), which would be implemented here.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.validate_at(&FieldPath::root(), object, old);
        errors.extend(embedded::errors(&self.schema, object, &FieldPath::root()));
        errors.extend(list_type::errors(&self.schema, object));
        errors
    }

    /// The errors of JSON Schema for a value at `path`, such as a written `status`.
    pub fn validate_at(
        &self,
        path: &FieldPath,
        value: &Value,
        _old: Option<&Value>,
    ) -> Vec<FieldError> {
        let errors: Vec<_> = self.compiled.iter_errors(value).collect();
        wording::field_errors(&errors, &self.json_schema, path)
    }
}

#[cfg(test)]
mod tests;
