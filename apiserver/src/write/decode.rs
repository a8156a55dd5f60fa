//! From the JSON of a request to an object of its type, as Go would read it: values that do not fit,
//! undeclared fields, defaults.
//!
//! Whether the object may be written is decided afterwards. Nothing here reads other objects.

use serde_json::{Value, json};

use super::{Complaints, FieldValidation, embedded, metadata};
use crate::{
    admission::Unknown,
    builtin::{self, Message},
    crd, deep,
    resource::{Origin, Resource},
    schema,
    status::StatusError,
};

/// How deep a definition may be: a schema of 50 levels, with what is around it.
const DEFINITION_DEPTH: usize = 120;

/// Why a value is no object of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undecodable {
    /// In the words of Go; the request decides what stands before them.
    #[error("{0}")]
    Because(String),
    /// Its defaults are larger than an object may be.
    #[error("etcdserver: request is too large")]
    TooLarge,
}

/// Drops undeclared fields and fills in defaults. Returns what to warn of; `complaints` are those about the
/// text of the object.
pub(crate) fn decode(
    resource: &Resource,
    object: &mut Value,
    validation: FieldValidation,
    mut complaints: Complaints,
) -> Result<Vec<String>, Undecodable> {
    let unknown = undeclared_fields(resource, object).map_err(Undecodable::Because)?;
    if !resource.is_custom() {
        for path in &unknown {
            complaints.forget(path);
        }
    }
    let warnings = judged(&unknown, validation, complaints)?;
    default(resource, object)?;
    Ok(warnings)
}

/// The same for a kind that travels without being a resource.
pub(crate) fn decode_message(
    message: &Message,
    object: &mut Value,
    validation: FieldValidation,
    mut complaints: Complaints,
) -> Result<Vec<String>, Undecodable> {
    let mut unknown = builtin::read_message(message, object).map_err(Undecodable::Because)?;
    unknown.sort();
    for path in &unknown {
        complaints.forget(path);
    }
    judged(&unknown, validation, complaints)
}

/// What to warn of: unknown fields, and what else there is to complain of, unless it is refused.
fn judged(
    unknown: &[String],
    validation: FieldValidation,
    mut complaints: Complaints,
) -> Result<Vec<String>, Undecodable> {
    let unknown = unknown.iter().map(|path| format!("unknown field \"{path}\""));
    if validation == FieldValidation::Strict {
        complaints.refusals.extend(unknown);
        if !complaints.refusals.is_empty() {
            let list = complaints.refusals.join(", ");
            return Err(Undecodable::Because(format!("strict decoding error: {list}")));
        }
    } else {
        complaints.warnings.extend(unknown);
    }
    let warn = validation == FieldValidation::Warn;
    Ok(if warn { complaints.warnings } else { Vec::new() })
}

/// The same for an object that admission changed.
pub(super) fn refine(
    resource: &Resource,
    object: &mut Value,
    unknown: Unknown,
) -> Result<(), StatusError> {
    let is_typed = !resource.is_custom();
    let validation = match unknown {
        Unknown::Refused if is_typed => FieldValidation::Strict,
        Unknown::Refused | Unknown::Dropped => FieldValidation::Ignore,
    };
    let decoded = decode(resource, object, validation, Complaints::default());
    decoded.map(drop).map_err(|why| StatusError::internal_error(&why.to_string()))
}

/// Completes the result of an apply. Its values are of their types already.
pub(crate) fn complete_applied(resource: &Resource, object: &mut Value) -> Result<(), Undecodable> {
    match resource.origin {
        Origin::Custom(_) => {
            metadata::round_trip(object);
            let fits = schema::default_applied(&resource.schema, object);
            if fits { Ok(()) } else { Err(Undecodable::TooLarge) }
        }
        Origin::BuiltIn(builtin) => {
            builtin::from_unstructured(builtin, object).map_err(Undecodable::Because)?;
            default(resource, object)
        }
        Origin::Definition => {
            decode(resource, object, FieldValidation::Ignore, Complaints::default()).map(drop)
        }
    }
}

/// Checks the types of values, and drops the undeclared fields of custom resources.
fn undeclared_fields(resource: &Resource, object: &mut Value) -> Result<Vec<String>, String> {
    let mut unknown = match resource.origin {
        Origin::BuiltIn(builtin) => {
            builtin::decode(builtin, object).map_err(|error| error.reason().to_owned())?
        }
        // What is made of a definition outlives the requests that can bear more.
        Origin::Definition if deep::is_deeper(object, DEFINITION_DEPTH) => {
            return Err("exceeded max depth".to_owned());
        }
        Origin::Definition => crd::decode(object)?,
        Origin::Custom(_) => {
            let mut unknown = builtin::decode_metadata(&object["metadata"], "metadata")?;
            metadata::round_trip(object);
            if object["kind"] == resource.kind.as_str() {
                unknown.extend(schema::prune(&resource.schema, object));
                let embedded = embedded::read(&resource.schema, object);
                unknown.extend(embedded.map_err(|error| error.to_string())?);
            }
            unknown
        }
    };
    unknown.sort();
    Ok(unknown)
}

fn default(resource: &Resource, object: &mut Value) -> Result<(), Undecodable> {
    match resource.origin {
        Origin::BuiltIn(builtin) => {
            let managers = object["metadata"].get("managedFields").cloned();
            builtin::default(builtin, object);
            // An empty list of managers removes them, which is done afterwards.
            if let Some(managers @ Value::Array(_)) = managers.filter(|it| *it == json!([])) {
                object["metadata"]["managedFields"] = managers;
            }
        }
        Origin::Custom(_) if object["kind"] != resource.kind.as_str() => {}
        Origin::Custom(_) => {
            if !schema::default(&resource.schema, object) {
                return Err(Undecodable::TooLarge);
            }
        }
        Origin::Definition => crd::default(object),
    }
    Ok(())
}
