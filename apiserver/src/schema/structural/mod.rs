//! Whether an API server accepts the schema of a custom resource.
//!
//! These are the checks that kube-apiserver makes of `openAPIV3Schema` when a definition is
//! created, with its messages. Not included: its requirements for the root with a status subresource, and
//! all checks of a definition outside of the schema.
//!
//! `path` is where the schema is. That is `spec.validation.openAPIV3Schema` while all versions of
//! the definition have the same schema, else `spec.versions[0].schema.openAPIV3Schema`.

mod complete;
mod defaults;
mod form;
mod inner;
mod keywords;
mod list_keys;
mod nested;
mod unsupported;

use serde_json::Value;

use super::{FieldError, FieldPath, crd};

pub use unsupported::unsupported;

/// The errors of an `openAPIV3Schema` at `path`.
pub fn structural_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if crd::flag(schema, "nullable") {
        let path = path.child("nullable");
        errors.push(FieldError::forbidden(&path, "nullable cannot be true at the root"));
    }
    let mut form = form::errors(schema, path);
    form.extend(complete::errors(schema, path));
    if form.is_empty() {
        form = defaults::errors(schema, path);
    }
    form.sort_by_key(ToString::to_string);
    errors.extend(form);
    errors.extend(keywords::errors(schema, path));
    errors
}

#[cfg(test)]
mod tests;
