//! What a step into a value gives, and what lists and maps become that grow. Costs nothing: `eval` counts.

use std::sync::Arc;

use super::value::{Outcome, Text, Val, error, no_overload};

pub(super) fn select<'a>(operand: &Val<'a>, field: &'a str, test: bool) -> Outcome<'a> {
    let key = Val::String(Text::Borrowed(field));
    match operand {
        Val::Map(map) if test => Ok(Val::Bool(map.find(&key)?.is_some())),
        Val::Map(map) => map.get(&key),
        Val::Constructed(object) => object.select(field, test),
        Val::Optional(None) if test => Ok(Val::Bool(false)),
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(inner)) => match &**inner {
            Val::Map(map) if test => Ok(Val::Bool(map.find(&key)?.is_some())),
            Val::Map(map) => Ok(Val::Optional(map.find(&key)?.map(Arc::new))),
            Val::Constructed(object) if test => object.select(field, true),
            Val::Constructed(object) => {
                Ok(Val::Optional(object.fields.get(field).cloned().map(Arc::new)))
            }
            _ => error(format!("no such key: {field}")),
        },
        // What a document says without a schema may be anything.
        value if is_simple(value) && test => Ok(Val::Bool(false)),
        value if is_simple(value) => error(format!("no such key: {field}")),
        _ => no_overload(),
    }
}

fn is_simple(value: &Val<'_>) -> bool {
    matches!(value, Val::Null | Val::Bool(_) | Val::Int(_) | Val::Double(_) | Val::String(_))
}

pub(super) fn element<'a>(value: &Val<'a>, index: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::Map(map) => map.get(index),
        Val::List(list) => list.index(index),
        _ => no_overload(),
    }
}

pub(super) fn concat(mut values: Vec<Val<'_>>) -> Outcome<'_> {
    match (values.pop(), values.pop()) {
        (Some(Val::List(second)), Some(Val::List(first))) => Ok(Val::List(first.concat(second)?)),
        _ => no_overload(),
    }
}

pub(super) fn insert(values: Vec<Val<'_>>) -> Outcome<'_> {
    let mut values = values.into_iter();
    let Some(Val::Map(map)) = values.next() else { return no_overload() };
    match (values.next(), values.next()) {
        (Some(key), Some(value)) => Ok(Val::Map(map.inserted(&key, value)?)),
        (Some(Val::Map(entries)), None) => {
            let mut map = map;
            for key in entries.keys() {
                map = map.inserted(&key, entries.get(&key)?)?;
            }
            Ok(Val::Map(map))
        }
        _ => no_overload(),
    }
}
