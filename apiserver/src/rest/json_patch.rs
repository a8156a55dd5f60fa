//! JSON patches (RFC 6902), with limits that hold while a patch is applied, not after.
//!
//! Where the RFC and kube-apiserver differ, this follows kube-apiserver: negative indices count from the
//! end, `replace` and `copy` accept an absent member, and an absent value is null.

use serde_json::{Map, Value};

use super::weight::{self, TREE_LIMIT};
use crate::{builtin, status::StatusError};

/// How many operations a patch may have.
const OPERATIONS_LIMIT: usize = 10_000;
/// How many bytes of JSON all copies of a patch may have together.
const COPY_LIMIT: usize = 3 * 1024 * 1024;
/// How deep the result may be; what is read from the store is at most so deep.
const DEPTH_LIMIT: usize = weight::DEPTH_LIMIT;
/// How many values all operations of a patch may shift or look at together.
const SHIFT_LIMIT: usize = 100_000_000;

/// The members of an operation.
const FIELDS: [&str; 4] = ["from", "op", "path", "value"];

/// The Go types of a patch and of an operation, as the handler of requests reads them.
pub(super) const OF_HANDLER: (&str, &str) = ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp");
/// The same, as the library of patches reads them.
pub(super) const OF_LIBRARY: (&str, &str) = ("jsonpatch.Patch", "jsonpatch.Operation");

/// A parsed patch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonPatch(Vec<Map<String, Value>>);

/// An operation does not apply; the answer does not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Inapplicable;

/// What a patch has used up of its limits.
#[derive(Debug, Default)]
struct Spent {
    copied: usize,
    weight: usize,
    shifted: usize,
}

impl JsonPatch {
    /// The patch in a document; `null` is the empty one.
    pub(crate) fn of(
        document: Value,
        (whole, each): (&str, &str),
        refuse: impl Fn(&str) -> StatusError,
    ) -> Result<Self, StatusError> {
        let operations = match document {
            Value::Array(operations) => operations,
            Value::Null => Vec::new(),
            other => return Err(refuse(&mismatch(&other, whole))),
        };
        if operations.len() > OPERATIONS_LIMIT {
            return Err(StatusError::too_many_operations(operations.len(), OPERATIONS_LIMIT));
        }
        let operation = |operation| match operation {
            Value::Object(operation) => Ok(operation),
            Value::Null => Ok(Map::new()),
            other => Err(refuse(&mismatch(&other, each))),
        };
        operations.into_iter().map(operation).collect::<Result<_, _>>().map(Self)
    }

    /// Members of operations that have no meaning.
    pub(super) fn unknown_fields(&self) -> impl Iterator<Item = String> {
        let unknown = |(at, operation): (usize, &Map<String, Value>)| {
            let fields = operation.keys().filter(|field| !FIELDS.contains(&field.as_str()));
            fields.map(|field| format!("[{at}].{field}")).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(unknown)
    }

    /// A document after the patch.
    pub(crate) fn applied_to(&self, document: &Value) -> Result<Value, StatusError> {
        self.applied_until(document).map_err(|_| StatusError::unprocessable_patch())
    }

    /// The same; or else the document as the first operation found it that does not apply, and that operation.
    pub(crate) fn applied_until(
        &self,
        document: &Value,
    ) -> Result<Value, (Value, &Map<String, Value>)> {
        let mut next = document.clone();
        let mut spent = Spent::default();
        for operation in &self.0 {
            // What does not apply has changed nothing.
            if let Err(Inapplicable) = apply(&mut next, operation, &mut spent) {
                return Err((next, operation));
            }
        }
        Ok(next)
    }
}

/// How Go says that a value has another type.
pub(super) fn mismatch(found: &Value, go_type: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {go_type}", builtin::json_name(found))
}

fn apply(
    document: &mut Value,
    operation: &Map<String, Value>,
    spent: &mut Spent,
) -> Result<(), Inapplicable> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str).ok_or(Inapplicable);
    let value = || operation.get("value").cloned().unwrap_or_default();
    let path = text("path");
    match text("op")? {
        "add" => add(document, path?, value(), spent),
        "remove" => remove(document, path?, spent).map(drop),
        "replace" => replace(document, path?, value(), spent),
        "move" => {
            let (path, from) = (path?, text("from")?);
            let moved = remove(document, from, spent)?;
            if parent_mut(document, path).is_err() {
                add(document, from, moved, spent)?;
                return Err(Inapplicable);
            }
            add(document, path, moved, spent)
        }
        "copy" => {
            let copied = get(document, text("from")?)?.cloned().unwrap_or_default();
            spent.copy(&copied)?;
            add(document, path?, copied, spent)
        }
        "test" if path?.is_empty() => equal(document, &value()),
        "test" => equal(get(document, path?)?.unwrap_or(&Value::Null), &value()),
        _ => Err(Inapplicable),
    }
}

fn equal(found: &Value, expected: &Value) -> Result<(), Inapplicable> {
    if found == expected { Ok(()) } else { Err(Inapplicable) }
}

fn add(
    document: &mut Value,
    path: &str,
    value: Value,
    spent: &mut Spent,
) -> Result<(), Inapplicable> {
    let (parent, key) = parent_mut(document, path)?;
    spent.deepen(path, &value)?;
    match parent {
        Value::Object(map) => drop(map.insert(key, value)),
        Value::Array(list) if key == "-" => list.push(value),
        Value::Array(list) => {
            let at = index(&key, list.len() + 1)?;
            spent.shift(list.len() - at)?;
            list.insert(at, value);
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str, spent: &mut Spent) -> Result<Value, Inapplicable> {
    let (parent, key) = parent_mut(document, path)?;
    match parent {
        Value::Object(map) => map.remove(&key).ok_or(Inapplicable),
        Value::Array(list) => {
            let at = index(&key, list.len())?;
            spent.shift(list.len() - at)?;
            Ok(list.remove(at))
        }
        _ => Err(Inapplicable),
    }
}

fn replace(
    document: &mut Value,
    path: &str,
    value: Value,
    spent: &mut Spent,
) -> Result<(), Inapplicable> {
    spent.deepen(path, &value)?;
    if path.is_empty() {
        let is_container = value.is_object() || value.is_array();
        *document = if is_container { value } else { return Err(Inapplicable) };
        return Ok(());
    }
    let (parent, key) = parent_mut(document, path)?;
    match parent {
        Value::Object(map) => drop(map.insert(key, value)),
        Value::Array(list) => {
            let at = index(&key, list.len())?;
            list[at] = value;
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn get<'a>(document: &'a Value, path: &str) -> Result<Option<&'a Value>, Inapplicable> {
    let mut steps: Vec<String> = steps(path)?.collect();
    let last = steps.pop().ok_or(Inapplicable)?;
    let mut value = document;
    for step in steps {
        value = member(value, &step)?.ok_or(Inapplicable)?;
    }
    member(value, &last)
}

fn member<'a>(value: &'a Value, step: &str) -> Result<Option<&'a Value>, Inapplicable> {
    match value {
        Value::Object(map) => Ok(map.get(step)),
        Value::Array(list) => Ok(Some(&list[index(step, list.len())?])),
        _ => Err(Inapplicable),
    }
}

/// The container that a path ends in, and the last step.
fn parent_mut<'a>(
    document: &'a mut Value,
    path: &str,
) -> Result<(&'a mut Value, String), Inapplicable> {
    let mut above: Vec<String> = steps(path)?.collect();
    let key = above.pop().ok_or(Inapplicable)?;
    let mut value = document;
    for step in above {
        value = match value {
            Value::Object(map) => map.get_mut(&step).ok_or(Inapplicable)?,
            Value::Array(list) => {
                let at = index(&step, list.len())?;
                &mut list[at]
            }
            _ => return Err(Inapplicable),
        };
    }
    Ok((value, key))
}

/// The steps of a path. What is before its first slash does not count.
fn steps(path: &str) -> Result<impl Iterator<Item = String>, Inapplicable> {
    let (_, steps) = path.split_once('/').ok_or(Inapplicable)?;
    Ok(steps.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")))
}

/// An index below `end`; negative ones count from there.
fn index(text: &str, end: usize) -> Result<usize, Inapplicable> {
    let at: i64 = text.parse().map_err(|_| Inapplicable)?;
    let at = if at < 0 { at + i64::try_from(end).map_err(|_| Inapplicable)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < end).ok_or(Inapplicable)
}

impl Spent {
    fn copy(&mut self, value: &Value) -> Result<(), Inapplicable> {
        self.copied += weight::json_length(value);
        self.weight += weight::of(value);
        if self.copied > COPY_LIMIT || self.weight > TREE_LIMIT {
            return Err(Inapplicable);
        }
        Ok(())
    }

    fn deepen(&mut self, path: &str, value: &Value) -> Result<(), Inapplicable> {
        let (depth, count) = weight::depth(value);
        self.shift(count)?;
        let above = path.bytes().filter(|byte| *byte == b'/').count();
        if above + depth > DEPTH_LIMIT { Err(Inapplicable) } else { Ok(()) }
    }

    fn shift(&mut self, elements: usize) -> Result<(), Inapplicable> {
        self.shifted += elements;
        if self.shifted > SHIFT_LIMIT { Err(Inapplicable) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(document: &Value, patch: &Value) -> Result<Value, StatusError> {
        JsonPatch::of(patch.clone(), OF_HANDLER, |why| StatusError::bad_request(why))?
            .applied_to(document)
    }

    #[test]
    fn operations_do_what_those_of_the_real_server_do() {
        let document = json!({"a": {"b": 1, "/": 2}, "l": [1, 2, 3]});
        let cases = [
            (json!({"op": "add", "path": "/a/c", "value": 3}), "/a/c", json!(3)),
            (json!({"op": "add", "path": "/l/-", "value": 4}), "/l", json!([1, 2, 3, 4])),
            (json!({"op": "add", "path": "/l/-1", "value": 4}), "/l", json!([1, 2, 3, 4])),
            (json!({"op": "add", "path": "/l/0", "value": 4}), "/l", json!([4, 1, 2, 3])),
            (json!({"op": "remove", "path": "/l/-1"}), "/l", json!([1, 2])),
            (json!({"op": "remove", "path": "/a/~1"}), "/a", json!({"b": 1})),
            (json!({"op": "replace", "path": "/a/absent", "value": 3}), "/a/absent", json!(3)),
            (json!({"op": "copy", "from": "/a/absent", "path": "/a/b"}), "/a/b", Value::Null),
            (json!({"op": "move", "from": "/l/0", "path": "/a/b"}), "/l", json!([2, 3])),
            (json!({"op": "test", "path": "/a/absent"}), "/l", json!([1, 2, 3])),
        ];
        for (operation, path, expected) in cases {
            let next = patched(&document, &json!([operation])).unwrap();
            assert_eq!(next.pointer(path), Some(&expected), "{operation}");
        }
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        for operation in [
            json!({"op": "remove", "path": "/a"}),
            json!({"op": "add", "path": "", "value": {}}),
            json!({"op": "add", "path": "/l/5", "value": 1}),
            json!({"op": "add", "path": "/l/-9", "value": 1}),
            json!({"op": "replace", "path": "/l/3", "value": 1}),
            json!({"op": "replace", "path": "", "value": 1}),
            json!({"op": "test", "path": "/l/0", "value": 2}),
            json!({"op": "wish", "path": "/l"}),
            json!({"op": "add"}),
            json!({}),
        ] {
            let refused = patched(&json!({"l": [1, 2, 3]}), &json!([operation]));
            assert_eq!(refused.unwrap_err().code, 422, "{operation}");
        }
    }

    #[test]
    fn copies_end_at_three_mebibytes() {
        let mut patch = vec![json!({"op": "add", "path": "/l", "value": vec!["x"; 25_000]})];
        patch.extend((0..5).map(|_| json!({"op": "copy", "from": "/l", "path": "/l/-"})));
        // 100, 200, 400, 800, 1600 kB; the next one is too much.
        let document = json!({});
        assert!(patched(&document, &json!(patch)).is_ok());
        patch.extend((0..13).map(|_| json!({"op": "copy", "from": "/l", "path": "/l/-"})));
        assert_eq!(patched(&document, &json!(patch)).unwrap_err().code, 422);
    }

    #[test]
    fn any_path_applies_or_is_refused() {
        const TOKENS: [&str; 14] = [
            "/",
            "/a",
            "/l",
            "a",
            "0",
            "-",
            "-1",
            "9223372036854775807",
            "~0",
            "~1",
            "~",
            "",
            "/l/0",
            "/a/b",
        ];
        let document = json!({"a": {"b": 1, "/": 2}, "l": [1, 2, {"a": []}]});
        let parser = |path: &str| {
            for (op, from) in ["add", "remove", "replace", "move", "copy", "test"]
                .into_iter()
                .flat_map(|op| [(op, path), (op, "/a")])
            {
                let step = json!({"op": op, "path": path, "from": from, "value": [1]});
                if let Ok(next) = patched(&document, &json!([step, step])) {
                    assert!(weight::of(&next) <= 4 * weight::of(&document) + 200);
                }
            }
        };
        operetta_harness::random::some_texts(4, &TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
