//! What our server-side apply owns of a live object, as a body: applying it again changes nothing.

use serde_json::{Map, Value};

use super::fields::{Owned, has_keys};
use crate::object::FieldSet;

/// The part of an object that these fields own; an empty object where they own nothing.
pub(crate) fn applied(live: &Value, fields: Option<&FieldSet>) -> Value {
    part(live, Owned::root(fields)).unwrap_or_else(|| Value::Object(Map::new()))
}

fn part(live: &Value, owned: Owned<'_>) -> Option<Value> {
    if owned.is_whole() {
        return Some(live.clone());
    }
    match live {
        Value::Object(fields) => owned.is_something().then(|| part_of_fields(fields, owned).into()),
        Value::Array(items) => owned.is_something().then(|| part_of_list(items, owned).into()),
        // The field sets of other types have members; another client changed the type.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn part_of_fields(fields: &Map<String, Value>, owned: Owned<'_>) -> Map<String, Value> {
    let field = |(name, inner): (&str, _)| Some((name.to_owned(), part(fields.get(name)?, inner)?));
    owned.fields().filter_map(field).collect()
}

fn part_of_list(items: &[Value], owned: Owned<'_>) -> Vec<Value> {
    if let Some(values) = owned.set() {
        return items.iter().filter(|item| values.contains(item)).cloned().collect();
    }
    let keyed = owned.keyed().unwrap_or_default();
    let part_of_item = |item: &Value| {
        let known = keyed.iter().find(|known| has_keys(item, &known.keys))?;
        let mut part = part(item, Owned::root(Some(&known.owned))).unwrap_or_else(|| item.clone());
        // Without its keys it would be another item.
        part.as_object_mut()?.extend(known.keys.clone());
        Some(part)
    };
    items.iter().filter_map(part_of_item).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_owned_is_taken_with_its_live_values_and_nothing_else() {
        let fields = json!({
            "f:metadata": {
                "f:labels": {"f:a": {}, "f:gone": {}},
                "f:finalizers": {"v:\"x/y\"": {}},
                "f:ownerReferences": {"k:{\"uid\":\"p\"}": {}},
            },
            "f:data": {"f:password": {}},
            "f:spec": {
                "f:selector": {},
                "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}}},
            },
        });
        let owner = json!({"uid": "p", "kind": "App"});
        let live = json!({
            "metadata": {
                "name": "n", "labels": {"a": "1", "b": "2"}, "finalizers": ["z", "x/y"],
                "ownerReferences": [{"uid": "q"}, owner],
            },
            "data": {"password": "edited", "user": "theirs"},
            "spec": {
                "selector": {"all": "of it"},
                "ports": [
                    {"port": 81, "protocol": "TCP"},
                    {"port": 80, "protocol": "TCP", "name": "n", "nodePort": 30},
                ],
            },
        });
        let fields = FieldSet::parse(&fields.to_string()).unwrap();
        assert_eq!(
            applied(&live, Some(&fields)),
            json!({
                "metadata": {
                    "labels": {"a": "1"}, "finalizers": ["x/y"], "ownerReferences": [owner],
                },
                "data": {"password": "edited"},
                "spec": {
                    "selector": {"all": "of it"},
                    "ports": [{"port": 80, "protocol": "TCP", "name": "n"}],
                },
            })
        );
        assert_eq!(applied(&live, None), json!({}));
    }
}
