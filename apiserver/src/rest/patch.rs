//! The kinds of patch, and their application to an object.
//!
//! Applies are made by the `apply` module, strategic merge patches by the `strategic` module.

use serde_json::Value;

use super::{
    call::Call,
    decode,
    json_patch::{self, JsonPatch},
    strategic::StrategicPatch,
    tree::Tree,
};
use crate::{status::StatusError, write::Complaints};

/// A patch.
#[derive(Debug)]
pub(super) enum Patch {
    /// RFC 6902.
    Json(JsonPatch),
    /// RFC 7396.
    Merge(Value),
    /// A merge by the rules of a built-in type.
    Strategic(StrategicPatch),
    /// Server-side apply; made by the `apply` module.
    Apply(Value),
}

impl Patch {
    /// The patch in the body of a request.
    pub(super) fn of(call: &Call<'_>) -> Result<(Self, Complaints), StatusError> {
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
            Self::Json(patch) => return patch.applied_to(live),
            Self::Merge(patch) => ::json_patch::merge(&mut next, patch),
            Self::Strategic(patch) => next = patch.applied_to(live)?,
            // The `apply` module performs an apply.
            Self::Apply(_) => {}
        }
        Ok(next)
    }
}

fn json_patch(call: &Call<'_>) -> Result<(Patch, Complaints), StatusError> {
    let tree = patch_tree(call)?;
    let mut complaints = tree.duplicates.complaints();
    let patch = JsonPatch::of(tree.value)?;
    let unknown = patch.unknown_fields().map(|path| format!("unknown field \"{path}\""));
    let all: Vec<String> = unknown.chain(complaints.warnings).collect();
    complaints = Complaints::of(all.iter().map(|what| format!("json patch {what}")).collect());
    Ok((Patch::Json(patch), complaints))
}

fn merge_patch(call: &Call<'_>) -> Result<(Patch, Complaints), StatusError> {
    let tree = patch_tree(call)?;
    let complaints = tree.duplicates.complaints();
    match tree.value {
        patch @ Value::Object(_) => Ok((Patch::Merge(patch), complaints)),
        other => Err(undecodable(&json_patch::mismatch(&other, "map[string]interface {}"))),
    }
}

fn strategic_patch(call: &Call<'_>) -> Result<(Patch, Complaints), StatusError> {
    let validation = call.write_options()?.validation;
    let patch = StrategicPatch::of(call.resource, call.body, validation);
    let patch = patch.map(|patch| (Patch::Strategic(patch), Complaints::default()));
    patch.ok_or_else(|| {
        StatusError::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: \
             application/json-patch+json, application/merge-patch+json, \
             application/apply-patch+yaml",
        )
    })
}

fn patch_tree(call: &Call<'_>) -> Result<Tree, StatusError> {
    Tree::of_json(call.body).map_err(|unread| unread.refusal(undecodable))
}

fn undecodable(why: &str) -> StatusError {
    StatusError::bad_request(format!("error decoding patch: {why}"))
}

fn apply_patch(call: &Call<'_>) -> Result<(Patch, Complaints), StatusError> {
    let Tree { value: applied, duplicates } = decode::yaml(call.body)?;
    if !applied.is_object() {
        return Err(StatusError::bad_request("invalid object type: /, Kind="));
    }
    decode::check_place(call.path.namespace.as_deref(), call.path.name.as_deref(), &applied)?;
    Ok((Patch::Apply(applied), duplicates.complaints()))
}
