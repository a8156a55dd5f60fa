//! Fields of schemas that are one thing or another: a schema or a boolean, one schema or several, a schema or names.
//!
//! Go reads them with readers of their own. What is neither of both is passed over, but for booleans.

use serde_json::Value;

use super::{
    decode::{Place, check_inner},
    go_type::{GoField, GoType, WireForm},
};

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

/// Checks that the value can be read.
pub(super) fn check(field: &GoField, value: &Value, place: &Place) -> Result<(), String> {
    let list = |of: GoType| GoType::List(Box::new(of));
    let schema = |value| check_inner(&SCHEMA, value, place);
    match (form(field), value) {
        (_, Value::Null) | (Some(WireForm::OrBool), Value::Bool(_)) => Ok(()),
        (Some(WireForm::OrStrings), Value::Object(entries)) => {
            entries.values().try_for_each(|entry| match entry {
                Value::Object(_) => schema(entry),
                Value::Array(_) => check_inner(&list(GoType::String), entry, place),
                _ => Ok(()),
            })
        }
        (Some(WireForm::OrArray), Value::Array(_)) => check_inner(&list(SCHEMA), value, place),
        (_, Value::Object(_)) => schema(value),
        (Some(WireForm::OrBool), _) => Err("boolean or JSON schema expected".to_owned()),
        _ => Ok(()),
    }
}

/// Does something with the schemas that the value is.
pub(super) fn for_each_schema(field: &GoField, value: &mut Value, then: fn(&GoType, &mut Value)) {
    match (form(field), value) {
        (Some(WireForm::OrStrings), Value::Object(entries)) => {
            entries.values_mut().filter(|it| it.is_object()).for_each(|it| then(&SCHEMA, it));
        }
        (Some(WireForm::OrArray), Value::Array(items)) => {
            items.iter_mut().for_each(|it| then(&SCHEMA, it));
        }
        (Some(_), value @ Value::Object(_)) => then(&SCHEMA, value),
        _ => {}
    }
}
