//! Applies JSON patches, and says in the words of the real server why they cannot be.

use serde_json::{Map, Value};

use crate::{json_patch::JsonPatch, status::StatusError};

/// Why a patch does not apply.
#[derive(Debug)]
pub(super) struct Inapplicable {
    /// Whether it only applies to other objects, which it says itself.
    pub is_test: bool,
    pub why: String,
}

/// An object after the operations of a patch.
pub(super) fn patched(object: &Value, operations: Value) -> Result<Value, Inapplicable> {
    let unreadable = |why: &str| StatusError::bad_request(why);
    let patch = JsonPatch::of(operations, ("", ""), unreadable)
        .map_err(|error| Inapplicable { is_test: false, why: error.message })?;
    patch.applied_until(object).map_err(|(found, operation)| Inapplicable {
        is_test: operation.get("op").is_some_and(|op| op == "test"),
        why: wording(&found, operation),
    })
}

fn wording(document: &Value, operation: &Map<String, Value>) -> String {
    let text = |field: &str| operation.get(field).and_then(Value::as_str).unwrap_or_default();
    let (op, path, from) = (text("op"), text("path"), text("from"));
    match op {
        "add" => match container(document, path) {
            None => missing("add operation does not apply: doc is missing path: ", &quoted(path)),
            Some((_, Err(why))) => format!("error in add for path: '{path}': {why}"),
            Some((_, Ok(()))) => format!("error in add for path: '{path}': too large"),
        },
        "remove" => match container(document, path) {
            None => {
                missing("remove operation does not apply: doc is missing path: ", &quoted(path))
            }
            Some((key, found)) => {
                let why = found.err().unwrap_or_else(|| nonexistent(&key));
                format!("error in remove for path: '{path}': {why}")
            }
        },
        "replace" if container(document, path).is_some() => {
            missing("replace operation does not apply: doc is missing key: ", path)
        }
        "replace" => missing("replace operation does not apply: doc is missing path: ", path),
        "test" => format!("testing value {path} failed: test failed"),
        "move" | "copy" if !operation.contains_key("from") => {
            let why = "operation, missing from field: missing value";
            format!("{op} operation failed to decode from: {why}")
        }
        "move" | "copy" => match container(document, from) {
            None => {
                missing(&format!("{op} operation does not apply: doc is missing from path: "), from)
            }
            Some((key, found)) if op == "move" && !has(document, from) => {
                let why = found.err().unwrap_or_else(|| nonexistent(&key));
                format!("error in move for path: '{key}': {why}")
            }
            Some((_, Err(why))) => format!("error in copy for from: '{from}': {why}"),
            Some(_) => missing(
                &format!("{op} operation does not apply: doc is missing destination path: "),
                path,
            ),
        },
        other => format!("Unexpected kind: {other}"),
    }
}

fn missing(what: &str, path: &str) -> String {
    format!("{what}{path}: missing value")
}

fn quoted(path: &str) -> String {
    format!("\"{path}\"")
}

fn nonexistent(key: &str) -> String {
    format!("Unable to remove nonexistent key: {key}: missing value")
}

fn has(document: &Value, path: &str) -> bool {
    document.pointer(path).is_some()
}

/// The last step of a path whose container is there, and why it is no index if the container is a list.
fn container(document: &Value, path: &str) -> Option<(String, Result<(), String>)> {
    let (above, key) = path.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let found = match document.pointer(above)? {
        Value::Object(_) => Ok(()),
        Value::Array(_) => Err(match key.parse::<i64>() {
            Ok(at) => format!("Unable to access invalid index: {at}: invalid index referenced"),
            Err(_) => format!("strconv.Atoi: parsing {key:?}: invalid syntax"),
        }),
        _ => return None,
    };
    Some((key, found))
}
