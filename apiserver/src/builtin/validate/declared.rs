//! Required fields and enums as the types declare them, for kinds that have no rules of their own here.

use serde_json::Value;

use crate::{
    builtin::{catalog::go_struct, go_type::GoType},
    schema::{FieldError, FieldPath},
};

/// Checks all that is in an object but its metadata and its status.
pub(super) fn object(root: &str, object: &Value, errors: &mut Vec<FieldError>) {
    let at = FieldPath::root();
    check(root, object, &at, errors);
    for (name, field) in &go_struct(root).fields {
        let skipped = matches!(*name, "metadata" | "status");
        if let Some(value) = object.get(*name).filter(|_| !skipped) {
            walk(&field.ty, value, &at.child(name), errors);
        }
    }
}

fn walk(ty: &GoType, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => walk(inner, value, at, errors),
        (GoType::Struct(name), Value::Object(_)) if *name != "meta.v1.ObjectMeta" => {
            check(name, value, at, errors);
            for (field, known) in &go_struct(name).fields {
                if let Some(value) = value.get(*field) {
                    walk(&known.ty, value, &at.child(field), errors);
                }
            }
        }
        (GoType::List(element), Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                walk(element, item, &at.index(index), errors);
            }
        }
        (GoType::Map(element), Value::Object(map)) => {
            for (key, item) in map {
                walk(element, item, &at.key(key), errors);
            }
        }
        _ => {}
    }
}

/// Checks the fields of one struct, not those of the structs in it.
fn check(name: &str, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (field, known) in &go_struct(name).fields {
        let given = value.get(*field).filter(|given| !known.ty.is_zero(given));
        match given {
            None if known.required && is_tellable(&known.ty) => {
                errors.push(FieldError::required(&at.child(field), ""));
            }
            Some(given)
                if given.is_string()
                    && !known.enumeration.is_empty()
                    && !known.enumeration.contains(given) =>
            {
                let supported = known.enumeration.iter().filter_map(Value::as_str);
                errors.push(FieldError::not_supported(&at.child(field), given, supported));
            }
            _ => {}
        }
    }
}

/// Whether an empty value means that nothing was given: zero is a number like others.
fn is_tellable(ty: &GoType) -> bool {
    match ty {
        GoType::Pointer(inner) => !matches!(**inner, GoType::Time | GoType::MicroTime),
        GoType::String | GoType::List(_) => true,
        _ => false,
    }
}
