//! Gives an object the defaults that the Go scheme gives it.
//!
//! Most are rules of the data file. Those that copy a value from elsewhere in the object, or read
//! free text, are functions in `copied`; they run before the rules of the same struct.

use serde_json::Value;

use super::{
    catalog::{BuiltinType, go_struct},
    copied,
    go_type::{Condition, GoType, Rule},
    path, round_trip,
};

/// Defaults an object, in the form in which the server returns it: without unknown and empty
/// fields, and with those that are always written.
pub fn default(ty: &BuiltinType, object: &mut Value) {
    round_trip::strip(ty.root, object);
    default_struct(ty.root, object);
    path::set(object, "apiVersion", api_version(ty));
    path::set(object, "kind", ty.kind);
    round_trip::fill(ty.root, object);
}

/// What an object has before anything is set: the fields that Go writes although they are empty.
pub fn empty(ty: &BuiltinType) -> Value {
    let mut object = Value::Object(serde_json::Map::new());
    round_trip::strip(ty.root, &mut object);
    round_trip::fill(ty.root, &mut object);
    object
}

fn api_version(ty: &BuiltinType) -> String {
    match ty.group {
        "" => ty.version.to_owned(),
        group => format!("{group}/{}", ty.version),
    }
}

fn default_struct(name: &str, object: &mut Value) {
    copied::before_rules(name, object);
    let go_struct = go_struct(name);
    let due: Vec<&Rule> = go_struct.rules.iter().filter(|rule| is_due(rule, object)).collect();
    let (conditional, plain): (Vec<&Rule>, Vec<&Rule>) =
        due.into_iter().partition(|rule| !rule.when.is_empty());
    for rule in conditional.into_iter().chain(plain) {
        path::set_if_absent(object, rule.path, rule.value.clone());
    }
    for (field, known) in &go_struct.fields {
        if let Some(value) = object.get_mut(*field) {
            default_value(&known.ty, value);
        }
    }
}

fn default_value(ty: &GoType, value: &mut Value) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => default_value(inner, value),
        (GoType::Struct(name), value @ Value::Object(_)) => default_struct(name, value),
        (GoType::List(element), Value::Array(list)) => {
            for item in list {
                default_value(element, item);
            }
        }
        (GoType::Map(element), Value::Object(map)) => {
            for item in map.values_mut() {
                default_value(element, item);
            }
        }
        _ => {}
    }
}

fn is_due(rule: &Rule, object: &Value) -> bool {
    let holds = |condition: &Condition| match path::get(object, condition.path) {
        None => false,
        Some(_) if condition.values.is_empty() => true,
        Some(value) => value.as_str().is_some_and(|text| condition.values.contains(&text)),
    };
    (rule.when.is_empty() || rule.when.iter().any(holds)) && !rule.unless.iter().any(holds)
}
