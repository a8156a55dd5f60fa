//! Whether an API server accepts the schema of a custom resource.
//!
//! ```text
//!  openAPIV3Schema ─ form: types, branches, completeness ─ defaults ─ keywords (walked by `cel`, with its rules)
//! ```
//!
//! Each part says what kube-apiserver says. `crd` decides which parts a definition has to pass.

mod complete;
mod defaults;
mod form;
mod formats;
mod inner;
pub(crate) mod keywords;
mod list_keys;
mod nested;
mod ratchet;
mod strictness;

use serde_json::Value;

pub(crate) use self::{
    defaults::errors as default_errors, formats::unrecognized as unrecognized_formats, inner::has,
    ratchet::strictness, strictness::Strictness,
};
use super::{FieldError, FieldPath};

/// The errors of the form of an `openAPIV3Schema` at `path`, or why its form cannot be judged.
pub(crate) fn form_errors(
    schema: &Value,
    path: &FieldPath,
) -> Result<Vec<FieldError>, &'static str> {
    if let Some(why) = keywords::unreadable(schema) {
        return Err(why);
    }
    let mut errors = form::errors(schema, path);
    errors.extend(complete::errors(schema, path));
    errors.sort_by_key(ToString::to_string);
    Ok(errors)
}

#[cfg(test)]
mod tests;
