//! What a handler returned as JSON that can be used and dropped safely.

use serde::Serialize;
use serde_json::Value;

use super::{DesiredChild, depth};
use crate::object::ObjectKey;

/// A response of a handler, which can be dropped safely once it is shallow.
pub(crate) trait Shallow {
    /// The response without values that are nested too deep, and without a status that is not an
    /// object: both count as unserializable.
    #[must_use]
    fn shallow(self) -> Self;
}

pub(super) fn limit_children(children: &mut [DesiredChild], why_not: &mut Option<String>) {
    for (index, child) in children.iter_mut().enumerate() {
        let name = |child: &Value| child_name(index, child, None);
        if let Some(why) = depth::limit(&mut child.object, name) {
            why_not.get_or_insert(why);
        }
    }
}

pub(super) fn limit(status: &mut Option<Value>, why_not: &mut Option<String>) {
    let name = |_: &Value| "the status".to_owned();
    let Some(value) = status.as_mut() else { return };
    if let Some(why) = depth::limit(value, name).or_else(|| no_object(value)) {
        *status = None;
        why_not.get_or_insert(why);
    }
}

/// Why a value cannot be a status, without quoting it.
fn no_object(status: &Value) -> Option<String> {
    let kind = match status {
        Value::Null | Value::Object(_) => return None,
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
    };
    Some(format!(
        "the status: it is {kind}, not a JSON object: return a map or a struct with fields, or none"
    ))
}

/// The name of a child of a response that may be invalid and have no name.
pub(crate) fn child_name(index: usize, child: &Value, default_namespace: Option<&str>) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let metadata = &child["metadata"];
    let (kind, version) = (text(&child["kind"]), text(&child["apiVersion"]));
    match (kind, version, text(&metadata["name"])) {
        (Some(kind), Some(version), Some(name)) => {
            let key = ObjectKey::new(metadata["namespace"].as_str().or(default_namespace), &name);
            format!("{kind}.{version} {key}")
        }
        (kind, _, name) => {
            let known: Vec<_> = [kind, name].into_iter().flatten().collect();
            format!("child {} of the response ({})", index + 1, known.join(" ")).replace(" ()", "")
        }
    }
}

pub(super) fn json(
    value: &impl Serialize,
    what: &str,
    why_not: &mut Option<String>,
) -> Option<Value> {
    match serde_json::to_value(value) {
        Ok(value) => Some(value),
        Err(error) => {
            *why_not = Some(format!("{what} cannot be written as JSON: {error}"));
            None
        }
    }
}
