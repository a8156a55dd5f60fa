//! The kinds of patch, and their application to an object.
//!
//! Strategic merge patches are made by the `strategic` module, applies by the `apply` module: only their text is
//! read here. Of a patch of an object that does not exist only the syntax is checked.

use bytes::Bytes;
use serde_json::Value;

use super::{call::Call, decode, strategic::StrategicPatch, tree::Tree};
use crate::{
    json_patch::{self, JsonPatch},
    status::StatusError,
    write::{Complaints, FieldValidation},
};

/// A patch that has not been read yet.
#[derive(Debug)]
pub(super) enum Patch {
    /// RFC 6902.
    Json(Bytes, FieldValidation),
    /// RFC 7396.
    Merge(Bytes, FieldValidation),
    /// A merge by the rules of a built-in type.
    Strategic(StrategicPatch),
    /// Server-side apply; made by the `apply` module.
    Apply(Bytes),
}

impl Patch {
    /// Refuses a kind of patch that the type does not have.
    pub(super) fn check(call: &Call<'_>) -> Result<(), StatusError> {
        Self::of_kind(call, FieldValidation::Ignore).map(drop)
    }

    /// The patch in the body of a request.
    pub(super) fn of(call: &Call<'_>, validation: FieldValidation) -> Result<Self, StatusError> {
        let patch = Self::of_kind(call, validation)?;
        match patch {
            Self::Apply(_) => check_yaml(call.body)?,
            Self::Json(..) | Self::Merge(..) | Self::Strategic(_) => check_json(call.body)?,
        }
        Ok(patch)
    }

    fn of_kind(call: &Call<'_>, validation: FieldValidation) -> Result<Self, StatusError> {
        let body = call.body.clone();
        match decode::media_type(call.content_type()) {
            "application/json-patch+json" => Ok(Self::Json(body, validation)),
            "application/merge-patch+json" => Ok(Self::Merge(body, validation)),
            "application/apply-patch+yaml" => Ok(Self::Apply(body)),
            "application/strategic-merge-patch+json" => {
                StrategicPatch::of(call.resource, call.body, validation)
                    .map(Self::Strategic)
                    .ok_or_else(no_strategy)
            }
            // The routes of built-in types refuse it before the handler does.
            _ if call.resource.is_custom() => Err(no_strategy()),
            _ => Err(StatusError::unsupported_patch_type()),
        }
    }

    /// The object after the patch, and what is wrong with the text of the patch.
    pub(super) fn applied_to(&self, live: &Value) -> Result<(Value, Complaints), StatusError> {
        match self {
            Self::Json(body, validation) => {
                let (patch, complaints) = json_patch(body, *validation)?;
                Ok((patch.applied_to(live)?, complaints))
            }
            Self::Merge(body, validation) => merged(live, body, *validation),
            Self::Strategic(patch) => patch.applied_to(live),
            // The `apply` module performs an apply.
            Self::Apply(_) => Ok((live.clone(), Complaints::default())),
        }
    }
}

fn check_json(body: &Bytes) -> Result<(), StatusError> {
    let refuse = |_: &str| StatusError::bad_request("invalid JSON patch");
    decode::json(body, refuse).map(drop)
}

/// What looks like JSON is read when it is applied.
fn check_yaml(body: &Bytes) -> Result<(), StatusError> {
    if body.trim_ascii_start().starts_with(b"{") {
        return Ok(());
    }
    let refuse = |why: &str| StatusError::bad_request(format!("error encoding patch: {why}"));
    decode::yaml(body, refuse).map(drop)
}

fn no_strategy() -> StatusError {
    StatusError::unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, \
         application/apply-patch+yaml",
    )
}

fn json_patch(
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(JsonPatch, Complaints), StatusError> {
    let is_ignorant = validation == FieldValidation::Ignore;
    // Without field validation only the library of patches reads the text.
    let refuse = |why: &str| {
        if is_ignorant { StatusError::bad_request(why) } else { undecodable(why) }
    };
    let Tree { value, duplicates } = decode::json(body, refuse)?;
    let kinds = if is_ignorant { json_patch::OF_LIBRARY } else { json_patch::OF_HANDLER };
    let patch = JsonPatch::of(value, kinds, refuse)?;
    let unknown = patch.unknown_fields().map(|path| format!("unknown field \"{path}\""));
    let all = unknown.chain(duplicates.complaints().warnings);
    let complaints = Complaints::of(all.map(|what| format!("json patch {what}")).collect());
    Ok((patch, complaints))
}

fn merged(
    live: &Value,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Value, Complaints), StatusError> {
    let is_ignorant = validation == FieldValidation::Ignore;
    let no_patch = || StatusError::bad_request("Invalid JSON Patch");
    let refuse = |why: &str| if is_ignorant { no_patch() } else { undecodable(why) };
    let Tree { value, duplicates } = decode::json(body, refuse)?;
    match value {
        patch @ Value::Object(_) => {
            let mut next = live.clone();
            ::json_patch::merge(&mut next, &patch);
            Ok((next, duplicates.complaints()))
        }
        Value::Null => Err(no_patch()),
        // It replaces the object.
        list @ Value::Array(_) if is_ignorant => Ok((list, Complaints::default())),
        other => Err(refuse(&json_patch::mismatch(&other, "map[string]interface {}"))),
    }
}

fn undecodable(why: &str) -> StatusError {
    StatusError::bad_request(format!("error decoding patch: {why}"))
}

/// What is applied, and what is wrong with its text.
pub(super) fn applied(body: &Bytes) -> Result<(Value, Complaints), StatusError> {
    let Tree { value, duplicates } =
        decode::yaml(body, |why| undecodable(&format!("error converting YAML to JSON: {why}")))?;
    match value {
        value @ Value::Object(_) => Ok((value, duplicates.complaints())),
        Value::Null => Err(StatusError::bad_request("invalid object type: /, Kind=")),
        other => {
            let why = json_patch::mismatch(&other, "map[string]interface {}");
            Err(undecodable(&format!("error unmarshaling JSON: while decoding JSON: {why}")))
        }
    }
}
