//! Fields of schemas that are one thing or another: a schema or a boolean, one schema or several, a schema or names.
//!
//! Go reads them with readers of their own. What is neither of both is passed over, but for booleans.

use serde_json::Value;

use super::go_type::{GoField, GoType, WireForm};

/// The Go struct of a schema.
const SCHEMA: GoType = GoType::Struct("apiextensions.v1.JSONSchemaProps");

/// Whether a field is one thing or another.
pub(super) fn is_one(field: &GoField) -> bool {
    form(field).is_some()
}

fn form(field: &GoField) -> Option<WireForm> {
    let form = field.wire.as_ref()?.form;
    matches!(form, WireForm::OrBool | WireForm::OrArray | WireForm::OrStrings).then_some(form)
}

/// What the value consists of, each with the type that it must have.
pub(super) fn parts<'v>(
    field: &GoField,
    value: &'v Value,
) -> Result<Vec<(GoType, &'v Value)>, &'static str> {
    let list = |of: GoType| GoType::List(Box::new(of));
    match (form(field), value) {
        (_, Value::Null) | (Some(WireForm::OrBool), Value::Bool(_)) => Ok(Vec::new()),
        (Some(WireForm::OrStrings), Value::Object(entries)) => {
            let part = |entry: &'v Value| match entry {
                Value::Object(_) => Some((SCHEMA, entry)),
                Value::Array(_) => Some((list(GoType::String), entry)),
                _ => None,
            };
            Ok(entries.values().filter_map(part).collect())
        }
        (Some(WireForm::OrArray), Value::Array(_)) => Ok(vec![(list(SCHEMA), value)]),
        (_, Value::Object(_)) => Ok(vec![(SCHEMA, value)]),
        (Some(WireForm::OrBool), _) => Err("boolean or JSON schema expected"),
        _ => Ok(Vec::new()),
    }
}

/// The type of a value that is schemas, or holds them; `None` for the others.
pub(super) fn schemas_below(field: &GoField, value: &Value) -> Option<GoType> {
    match (form(field)?, value) {
        (WireForm::OrStrings, Value::Object(_)) => Some(GoType::Map(Box::new(SCHEMA))),
        (WireForm::OrArray, Value::Array(_)) => Some(GoType::List(Box::new(SCHEMA))),
        (_, Value::Object(_)) => Some(SCHEMA),
        _ => None,
    }
}

/// The name of the type of a field of a schema that has one of its own.
pub(super) fn type_name(of: &str, fields: &str) -> Option<&'static str> {
    if !of.ends_with(".JSONSchemaProps") {
        return None;
    }
    Some(match fields.rsplit('.').next()? {
        "enum" => "[]v1.JSON",
        "dependencies" => "v1.JSONSchemaDependencies",
        "definitions" => "v1.JSONSchemaDefinitions",
        "x-kubernetes-validations" => "v1.ValidationRules",
        _ => return None,
    })
}

/// Does something with the schemas that the value is.
pub(super) fn for_each_schema(field: &GoField, value: &mut Value, then: fn(&GoType, &mut Value)) {
    match (form(field), value) {
        (Some(WireForm::OrStrings), Value::Object(entries)) => {
            entries.values_mut().filter(|it| it.is_object()).for_each(|it| then(&SCHEMA, it));
        }
        (Some(WireForm::OrArray), Value::Array(items)) => {
            for item in items {
                then(&SCHEMA, item);
            }
        }
        (Some(_), value @ Value::Object(_)) => then(&SCHEMA, value),
        _ => {}
    }
}
