//! From free JSON to a Go struct without a document in between, as a strategic merge patch is read.
//!
//! Here other values fit than in a document (2.0 is an integer), and the errors are others.
//! Unknown fields are not errors: `decode` finds them.

use serde_json::Value;

use super::{
    catalog::{BuiltinType, go_struct},
    decode::{bytes, go_name, json_name, scalar},
    go_type::{GoField, GoType},
};

/// Gives every value of an object the type of its field.
pub(crate) fn from_unstructured(ty: &BuiltinType, object: &mut Value) -> Result<(), String> {
    convert(&GoType::Struct(ty.root), None, object)
}

fn convert(ty: &GoType, name: Option<&str>, value: &mut Value) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match (ty, value) {
        (GoType::Any, _) => Ok(()),
        (GoType::Pointer(inner), value) => convert(inner, name, value),
        (GoType::Struct(of), Value::Object(fields)) => {
            go_struct(of).fields.iter().try_for_each(|(key, GoField { ty, name, .. })| {
                fields.get_mut(*key).map_or(Ok(()), |value| convert(ty, *name, value))
            })
        }
        (GoType::Map(element), Value::Object(entries)) => {
            entries.values_mut().try_for_each(|value| convert(element, name, value))
        }
        (GoType::List(element), Value::Array(items)) => {
            items.iter_mut().try_for_each(|value| convert(element, name, value))
        }
        (GoType::Struct(_), value) => Err(format!("cannot restore struct from: {}", kind(value))),
        (GoType::Map(_), value) => Err(format!("cannot restore map from {}", kind(value))),
        (GoType::Bytes, Value::String(text)) => {
            bytes(text).map_err(|error| format!("error decoding from json: {error}"))
        }
        (GoType::List(_) | GoType::Bytes, value) => {
            Err(format!("cannot restore slice from {}", kind(value)))
        }
        (GoType::Quantity | GoType::IntOrString | GoType::Time | GoType::MicroTime, value) => {
            scalar(ty, value).map_err(|error| error.unwrap_or_else(|| unmarshalled(ty, value)))
        }
        (ty, value) => simple(ty, name, value),
    }
}

/// Text, flags and numbers: what Go converts between them, it converts silently.
fn simple(ty: &GoType, name: Option<&str>, value: &mut Value) -> Result<(), String> {
    let found = kind(value);
    match (ty, found) {
        (GoType::String, "string")
        | (GoType::Bool, "bool")
        | (GoType::Int64, "int64")
        | (GoType::Float64, "int64" | "float64") => Ok(()),
        (GoType::Int32, "int64") => {
            let number = value.as_i64().unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "the real server truncates too")]
            let kept = number as i32;
            *value = Value::from(kept);
            Ok(())
        }
        (GoType::Int32 | GoType::Int64, "float64") => {
            let number = value.as_f64().unwrap_or_default();
            if number.fract() != 0.0 {
                return Err(format!("cannot convert float64 to {}", go_name(ty, name)));
            }
            #[expect(clippy::cast_possible_truncation, reason = "the real server truncates too")]
            let kept = number as i64;
            *value = Value::from(kept);
            simple(ty, name, value)
        }
        (GoType::String, "int64") => Err(format!("cannot convert int64 to {}", go_name(ty, name))),
        _ => Err(format!("unrecognized type: {}", go_name(ty, None))),
    }
}

fn unmarshalled(ty: &GoType, value: &Value) -> String {
    let wanted = if *ty == GoType::IntOrString { "int32" } else { "string" };
    format!("json: cannot unmarshal {} into Go value of type {wanted}", json_name(value))
}

/// What Go calls the kind of a value of free JSON.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin::find;

    #[test]
    fn whole_numbers_are_integers_and_other_mismatches_are_named() {
        let deployment = find("apps", "v1", "Deployment").unwrap();
        let mut object = json!({ "spec": { "replicas": 2.0 } });
        from_unstructured(deployment, &mut object).unwrap();
        assert_eq!(object["spec"]["replicas"].as_i64(), Some(2));
        for (spec, complaint) in [
            (json!({ "replicas": 2.5 }), "cannot convert float64 to int32"),
            (json!({ "replicas": "2" }), "unrecognized type: int32"),
            (json!({ "paused": "yes" }), "unrecognized type: bool"),
            (json!({ "selector": [] }), "cannot restore struct from: slice"),
            (
                json!({ "strategy": { "type": 1 } }),
                "cannot convert int64 to v1.DeploymentStrategyType",
            ),
            (
                json!({ "template": { "spec": { "containers": 1 } } }),
                "cannot restore slice from int64",
            ),
        ] {
            let mut object = json!({ "spec": spec });
            assert_eq!(from_unstructured(deployment, &mut object).unwrap_err(), complaint);
        }
    }
}
