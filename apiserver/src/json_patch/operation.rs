//! The operations of a patch.

use serde_json::{Map, Value};

use super::{
    limits::{Inapplicable, Spent},
    pointer::{get, index, parent_mut},
};

/// Applies one operation. A document is unchanged if the operation does not apply to it.
pub(super) fn apply(
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
