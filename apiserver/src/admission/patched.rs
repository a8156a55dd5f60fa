//! Applies the JSON patch of a webhook, and says in the words of the real server why it cannot be.

use serde_json::{Value, json};

use super::webhook::{Refusal, Webhook};
use crate::{rest::JsonPatch, status::StatusError};

/// The object after a patch; `None` if the patch is empty.
pub(super) fn patched(
    webhook: &Webhook,
    (ty, patch): &(String, Vec<u8>),
    object: Option<&Value>,
) -> Result<Option<Value>, Refusal> {
    let Ok(Value::Array(operations)) = serde_json::from_slice::<Value>(patch) else {
        let why = "received undecodable patch in webhook response: json: cannot unmarshal";
        return Err(Refusal::Failed(why.to_owned()));
    };
    if operations.is_empty() {
        return Ok(None);
    }
    let internal = |why: &str| Refusal::Denied(StatusError::internal_error(why));
    let Some(object) = object else {
        return Err(internal(&format!(
            "admission webhook \"{}\" attempted to modify the object, which is not supported for \
             this operation",
            webhook.name
        )));
    };
    if ty != "JSONPatch" {
        return Err(Refusal::Failed(format!("unsupported patch type {ty:?}")));
    }
    let mut next = object.clone();
    for operation in operations {
        let inapplicable = || internal(&wording(&next, &operation));
        let patch = JsonPatch::of(json!([operation]), ("", ""), |_| unreadable());
        let patch = patch.map_err(|_| inapplicable())?;
        next = patch.applied_to(&next).map_err(|_| inapplicable())?;
    }
    Ok(Some(next))
}

/// Only for the caller, who says it in other words.
fn unreadable() -> StatusError {
    StatusError::unprocessable_patch()
}

fn wording(document: &Value, operation: &Value) -> String {
    let text = |field: &str| operation[field].as_str().unwrap_or_default();
    let (path, op) = (text("path"), text("op"));
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let has_parent = document.pointer(parent).is_some_and(|it| it.is_object() || it.is_array());
    match op {
        "add" => {
            format!("add operation does not apply: doc is missing path: {path:?}: missing value")
        }
        "remove" if has_parent => {
            let key = path.rsplit('/').next().unwrap_or_default();
            format!(
                "error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
            )
        }
        "remove" => {
            format!("remove operation does not apply: doc is missing path: {path:?}: missing value")
        }
        "replace" if has_parent => {
            format!("replace operation does not apply: doc is missing key: {path}: missing value")
        }
        "replace" => {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        }
        "test" => format!("testing value {path} failed: test failed"),
        "move" | "copy" => {
            let from = text("from");
            format!(
                "{op} operation does not apply: doc is missing from path: {from}: missing value"
            )
        }
        other => format!("Unexpected kind: {other}"),
    }
}
