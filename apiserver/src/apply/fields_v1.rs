//! `FieldsV1`, the JSON form of a set of field paths in `metadata.managedFields`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{field_set::FieldSet, path_element::PathElement};

/// Marks an object of the encoding whose own path is a member beside its children.
const SELF: &str = ".";

pub(super) fn encode(set: &FieldSet) -> Value {
    let elements: BTreeSet<_> = set.members.iter().chain(set.children.keys()).collect();
    let encoded = elements.into_iter().map(|e| (e.encode(), encode_element(set, e)));
    Value::Object(encoded.collect())
}

fn encode_element(set: &FieldSet, element: &PathElement) -> Value {
    let mut fields = set.children.get(element).map_or_else(|| json!({}), encode);
    if set.children.contains_key(element) && set.members.contains(element) {
        fields[SELF] = json!({});
    }
    fields
}

pub(super) fn decode(fields: &Value) -> Result<FieldSet, String> {
    let object = fields.as_object().ok_or_else(|| format!("fieldsV1 is no object: {fields}"))?;
    decode_members(object)
}

fn decode_members(object: &Map<String, Value>) -> Result<FieldSet, String> {
    let mut set = FieldSet::default();
    for (key, fields) in object.iter().filter(|(key, _)| *key != SELF) {
        let Some(element) = PathElement::decode(key)? else { continue };
        let child = match fields {
            Value::Null => FieldSet::default(),
            fields => decode(fields)?,
        };
        let childless = child.is_empty();
        if !childless {
            set.children.insert(element.clone(), child);
        }
        if childless || fields.get(SELF).is_some() {
            set.members.insert(element);
        }
    }
    Ok(set)
}
