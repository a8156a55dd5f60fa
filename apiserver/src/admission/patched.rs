//! An object as the patch of a webhook makes it.

use serde_json::Value;

use super::{
    json_patch,
    webhook::{Refusal, Webhook},
};
use crate::status::StatusError;

/// The object after a patch; `None` if the patch is empty.
pub(super) fn patched(
    webhook: &Webhook,
    (ty, patch): &(String, Vec<u8>),
    object: Option<&Value>,
) -> Result<Option<Value>, Refusal> {
    let Ok(operations @ Value::Array(_)) = serde_json::from_slice::<Value>(patch) else {
        let why = "received undecodable patch in webhook response: json: cannot unmarshal";
        return Err(Refusal::Failed(why.to_owned()));
    };
    if operations.as_array().is_none_or(Vec::is_empty) {
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
    json_patch::patched(object, operations).map(Some).map_err(|error| internal(&error.why))
}
