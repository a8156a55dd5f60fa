//! Merges a patch into an object, field by field.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    StrategicError,
    directive::{DIRECTIVE, ELEMENT_ORDER, named_list, without_directives},
    list, ordered,
    wording::type_name,
};
use crate::builtin::{PatchField, PatchType};

const DELETION_LIST: &str = "$deleteFromPrimitiveList";
const RETAIN_KEYS: &str = "$retainKeys";

/// The object after the patch.
pub(super) fn merge(
    ty: &PatchType,
    mut object: Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<Map<String, Value>, StrategicError> {
    if let Some(word) = patch.get(DIRECTIVE).cloned() {
        return directive(word, patch);
    }
    retain_keys(&mut object, patch)?;
    ordered::merge_ordered(ty, &mut object, patch, merge)?;
    for (key, value) in patch.iter_mut() {
        let deletes = key.starts_with(DELETION_LIST);
        let field = if deletes { list_name(key)? } else { key };
        if value.is_null() {
            object.remove(field);
        } else if let Some(merged) = field_after(ty, field, object.get(field), value, deletes)? {
            object.insert(field.to_owned(), merged);
        } else if !deletes {
            object.remove(field);
        }
    }
    Ok(object)
}

fn directive(
    word: Value,
    patch: &mut Map<String, Value>,
) -> Result<Map<String, Value>, StrategicError> {
    match word.as_str() {
        Some("replace") => {
            patch.remove(DIRECTIVE);
            Ok(patch.clone())
        }
        Some("delete") => Ok(Map::new()),
        _ => Err(StrategicError::BadDirective { word, map: Value::Object(patch.clone()) }),
    }
}

/// Drops the fields of the object that the patch does not want to keep.
fn retain_keys(
    object: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), StrategicError> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let kept = kept.as_array().ok_or(StrategicError::RetainKeys)?;
    let kept: BTreeSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    let is_parallel = |key: &str| key.starts_with(DELETION_LIST) || key.starts_with(ELEMENT_ORDER);
    let sets = |(key, value): &(&String, &Value)| !value.is_null() && !is_parallel(key);
    if patch.iter().filter(sets).any(|(key, _)| !kept.contains(&**key)) {
        return Err(StrategicError::RetainKeys);
    }
    object.retain(|key, _| kept.contains(&**key));
    Ok(())
}

/// Without a name behind the slash the key stands for itself.
fn list_name(key: &str) -> Result<&str, StrategicError> {
    let name = named_list(key, DELETION_LIST).ok_or(StrategicError::PrimitiveList)?;
    Ok(if name.is_empty() { key } else { name })
}

/// A field after its patch; `None` if it does not stay, or was not there to be deleted from.
fn field_after(
    ty: &PatchType,
    key: &str,
    live: Option<&Value>,
    patch: &mut Value,
    deletes: bool,
) -> Result<Option<Value>, StrategicError> {
    match (live, patch) {
        (Some(Value::Object(live)), Value::Object(patch)) => {
            let PatchField { ty, strategy, .. } = ty.field(key)?;
            let merged = match strategy {
                "replace" => patch.clone(),
                _ => merge(&ty, live.clone(), patch)?,
            };
            Ok(Some(Value::Object(merged)))
        }
        (Some(Value::Array(live)), Value::Array(patch)) => {
            let field = ty.list(key)?;
            Ok(Some(Value::Array(list::merge(&field, &mut live.clone(), patch, deletes, merge)?)))
        }
        (Some(live), patch) if type_name(live) == type_name(patch) => Ok(without_directives(patch)),
        (_, _) if deletes => Ok(live.cloned()),
        (_, patch) => {
            discard_nulls(patch);
            Ok(without_directives(patch))
        }
    }
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}
