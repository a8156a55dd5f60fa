//! What expressions construct, as JSON.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Number, Value, json};

use super::value::{Constructed, Val};

/// The largest number that every reader of JSON keeps; larger ones are written as text.
const LARGEST: u64 = 1 << 53;

/// The operations of a patch.
pub(super) fn operations(value: &Val<'_>) -> Result<Vec<Value>, String> {
    let Val::List(list) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    list.iter().flatten().map(|item| operation(&item)).collect()
}

/// The fields of a whole object.
pub(super) fn configuration(value: &Val<'_>) -> Result<Value, String> {
    let Val::Constructed(object) = value else {
        return Err("unsupported return type from ApplyConfiguration expression".to_owned());
    };
    check(object)?;
    match null_in(object, "") {
        Some(path) => Err(format!(
            "error applying patch: failed to convert patch object to typed object: {path}: expected \
             map, got &{{NULL_VALUE}}"
        )),
        None => Ok(fields(object)),
    }
}

/// The path of a null, which is no value of any field.
fn null_in(object: &Constructed<'_>, path: &str) -> Option<String> {
    object.fields.iter().find_map(|(name, value)| match value {
        Val::Null => Some(format!("{path}.{name}")),
        Val::Constructed(part) => null_in(part, &format!("{path}.{name}")),
        _ => None,
    })
}

fn operation(value: &Val<'_>) -> Result<Value, String> {
    let Val::Constructed(given) = value else {
        return Err(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch"
                .to_owned(),
        );
    };
    let text = |field| match given.fields.get(field) {
        Some(Val::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut operation = json!({ "op": text("op"), "path": text("path") });
    if !text("from").is_empty() {
        operation["from"] = json!(text("from"));
    }
    if let Some(value) = given.fields.get("value") {
        if let Val::Constructed(object) = value {
            check(object)?;
        }
        operation["value"] = json_of(value).map_err(|why| {
            let what =
                "JSONPath valueExpression evaluated to a type that could not marshal to JSON";
            format!("{what}: {why}")
        })?;
    }
    Ok(operation)
}

fn check(object: &Constructed<'_>) -> Result<(), String> {
    object.misplaced().map_or(Ok(()), |why| Err(format!("type mismatch: {why}")))
}

fn fields(object: &Constructed<'_>) -> Value {
    let field = |(name, value): (&std::sync::Arc<str>, &Val<'_>)| (name.to_string(), native(value));
    Value::Object(object.fields.iter().map(field).collect())
}

/// The value of a field of a constructed object, whose numbers stay what they are.
fn native(value: &Val<'_>) -> Value {
    match value {
        Val::Int(number) => json!(number),
        Val::Uint(number) => json!(number),
        Val::Double(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Val::Constructed(object) => fields(object),
        Val::List(list) => Value::Array(list.iter().flatten().map(|item| native(&item)).collect()),
        Val::Map(map) => {
            let mut entries = Map::new();
            for key in map.keys() {
                if let (Val::String(name), Ok(value)) = (&key, map.get(&key)) {
                    entries.insert(name.to_string(), native(&value));
                }
            }
            Value::Object(entries)
        }
        other => json_of(other).unwrap_or_default(),
    }
}

fn json_of(value: &Val<'_>) -> Result<Value, String> {
    Ok(match value {
        Val::Null | Val::Optional(None) => Value::Null,
        Val::Bool(value) => json!(value),
        Val::Int(number) if number.unsigned_abs() > LARGEST => json!(number.to_string()),
        Val::Uint(number) if *number > LARGEST => json!(number.to_string()),
        Val::Int(number) => json!(number),
        Val::Uint(number) => json!(number),
        Val::Double(number) => number_of(*number),
        Val::String(text) => json!(&**text),
        Val::Bytes(bytes) => json!(STANDARD.encode(bytes)),
        Val::Duration(_) | Val::Timestamp(_) => json!(value.to_string()),
        Val::Optional(Some(inner)) => json_of(inner)?,
        Val::Constructed(object) => fields(object),
        Val::List(list) => {
            let items = list.iter().flatten().map(|item| json_of(&item));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Val::Map(map) => {
            let mut entries = Map::new();
            for key in map.keys() {
                if let Ok(value) = map.get(&key) {
                    entries.insert(key.to_string(), json_of(&value)?);
                }
            }
            Value::Object(entries)
        }
        Val::Opaque(value) => Value::clone(value),
        other => {
            return Err(format!("unsupported native conversion from {}", other.type_name()));
        }
    })
}

/// A number without a fraction is written as a whole one.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return json!(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
