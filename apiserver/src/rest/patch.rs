//! The kinds of patch, and their application to an object.
//!
//! Applies are made by the `apply` module, strategic merge patches by the `strategic` module.

use serde_json::Value;

use super::{call::Call, decode, strategic::StrategicPatch};
use crate::{
    schema::{FieldError, FieldErrorKind},
    status::StatusError,
};

/// How many operations a JSON patch may have.
const OPERATIONS_LIMIT: usize = 10_000;

/// A patch.
#[derive(Debug)]
pub(super) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7396.
    Merge(Value),
    /// A merge by the rules of a built-in type.
    Strategic(StrategicPatch),
    /// Server-side apply; made by the `apply` module.
    Apply(Value),
}

impl Patch {
    /// The patch in the body of a request.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, StatusError> {
        match decode::media_type(call.content_type()) {
            "application/json-patch+json" => json_patch(call),
            "application/merge-patch+json" => merge_patch(call),
            "application/apply-patch+yaml" => apply_patch(call),
            "application/strategic-merge-patch+json" => strategic_patch(call),
            _ => Err(StatusError::unsupported_patch_type()),
        }
    }

    /// The object after the patch.
    pub(super) fn applied_to(&self, live: &Value) -> Result<Value, StatusError> {
        let mut next = live.clone();
        match self {
            Self::Json(patch) => json_patch::patch(&mut next, patch)
                .map_err(|_| StatusError::unprocessable_patch())?,
            Self::Merge(patch) => json_patch::merge(&mut next, patch),
            Self::Strategic(patch) => next = patch.applied_to(live)?,
            // The `apply` module performs an apply.
            Self::Apply(_) => {}
        }
        Ok(next)
    }
}

fn json_patch(call: &Call<'_>) -> Result<Patch, StatusError> {
    let patch: json_patch::Patch = serde_json::from_slice(call.body)
        .map_err(|error| StatusError::bad_request(format!("error decoding patch: {error}")))?;
    if patch.0.len() > OPERATIONS_LIMIT {
        return Err(StatusError::too_many_operations(patch.0.len(), OPERATIONS_LIMIT));
    }
    Ok(Patch::Json(patch))
}

fn merge_patch(call: &Call<'_>) -> Result<Patch, StatusError> {
    let patch: Value = serde_json::from_slice(call.body)
        .map_err(|error| StatusError::bad_request(format!("error decoding patch: {error}")))?;
    match patch {
        Value::Object(_) => Ok(Patch::Merge(patch)),
        _ => Err(StatusError::bad_request("error decoding patch: Invalid JSON Document")),
    }
}

fn strategic_patch(call: &Call<'_>) -> Result<Patch, StatusError> {
    let validation = call.query.write_options(call.user_agent())?.validation;
    let patch = StrategicPatch::of(call.resource, call.body, validation);
    patch.map(Patch::Strategic).ok_or_else(|| {
        StatusError::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: \
             application/json-patch+json, application/merge-patch+json, \
             application/apply-patch+yaml",
        )
    })
}

fn apply_patch(call: &Call<'_>) -> Result<Patch, StatusError> {
    if call.query.text("fieldManager").is_none() {
        let error = FieldError {
            path: "fieldManager".to_owned(),
            kind: FieldErrorKind::Required,
            value: None,
            detail: "is required for apply patch".to_owned(),
        };
        return Err(StatusError::invalid("meta.k8s.io", "PatchOptions", "", &[error]));
    }
    let applied = decode::yaml(call.body)?;
    if !applied.is_object() {
        return Err(StatusError::bad_request("invalid object type: /, Kind="));
    }
    decode::check_place(call.path.namespace.as_deref(), call.path.name.as_deref(), &applied)?;
    Ok(Patch::Apply(applied))
}
