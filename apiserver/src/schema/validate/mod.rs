//! Tells what is wrong with an object, given its schema, in the words of kube-apiserver.
//!
//! The rules of JSON Schema are judged by the `jsonschema` crate; translated for it is the schema,
//! translated from it are the complaints. Lists whose elements must be unique and the metadata of
//! embedded resources are judged here. `x-kubernetes-validations` is not: see `unsupported`.

mod combine;
pub(super) mod embedded;
pub(super) mod format;
mod list_type;
mod number;
pub(super) mod pattern;
mod translate;
mod walk;
mod wording;

use serde_json::Value;
use thiserror::Error;

use super::{FieldError, FieldPath, Schema};

/// A schema, ready to judge objects; made once per version of a resource.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    json_schema: Value,
    compiled: jsonschema::Validator,
}

/// A schema cannot be used to judge objects, for example because of a pattern.
#[derive(Debug, Error)]
#[error("error building validator: {at}: {reason}")]
pub struct ValidatorError {
    at: String,
    reason: String,
}

impl Validator {
    /// Prepares to judge objects, or values inside of objects, by this schema.
    pub fn new(schema: Schema) -> Result<Self, ValidatorError> {
        let json_schema = translate::json_schema(&schema);
        let compiled = translate::options().build(&json_schema).map_err(|error| {
            ValidatorError { at: error.instance_path().to_string(), reason: error.to_string() }
        })?;
        Ok(Self { schema, json_schema, compiled })
    }

    /// The schema that this judges by.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What is wrong with an object that is created or updated.
    ///
    /// `old` is the object before an update. It makes no difference yet: kube-apiserver forgives
    /// what was wrong before and has not been touched ("ratcheting"), which would be decided here.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.validate_at(&FieldPath::root(), object, old);
        errors.extend(embedded::errors(&self.schema, object, &FieldPath::root()));
        errors.extend(list_type::errors(&self.schema, object));
        errors
    }

    /// What the rules of JSON Schema say about a value at `path`, such as the `status` of an
    /// object whose status is written.
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
