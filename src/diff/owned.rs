//! Compares what our field manager owns with what the handler desires. A server-side apply of the
//! desired object removes the fields beyond it and takes back the lost ones. Looks at no values,
//! see [`contained`](super::contained).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    fields::{Owned, keys_of, pair},
    path::{MAX_PATHS, Path, Segment},
};
use crate::object::{FieldItem, FieldSet};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Ownership {
    /// What we own and do not desire.
    pub(super) beyond: Vec<String>,
    /// What we desire and do not own: another client changed it, perhaps back again. Without an
    /// apply it would stay when it is no longer desired, and an atomic map may hold more by now.
    pub(super) lost: Vec<String>,
}

/// Compares `fieldsV1` with the desired object.
pub(crate) fn ownership(fields: &FieldSet, desired: &Value) -> Ownership {
    let mut search = Search { path: Path::default(), found: Ownership::default() };
    search.value(Owned::root(Some(fields)), desired);
    search.found
}

struct Search<'a> {
    path: Path<'a>,
    found: Ownership,
}

impl<'a> Search<'a> {
    fn value(&mut self, owned: Owned<'a>, desired: &'a Value) {
        if owned.is_whole() {
            return;
        }
        match desired {
            Value::Array(items) => self.list(owned, items),
            Value::Object(fields) => self.fields(owned, fields, &Map::new()),
            // Another JSON type differs as a value.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The fields of an object. The keys of an item are never lost, as the server defaults some.
    /// An owned item was applied: if it is no longer desired, another item is.
    fn fields(
        &mut self,
        owned: Owned<'a>,
        desired: &'a Map<String, Value>,
        keys: &Map<String, Value>,
    ) {
        for (name, _) in owned.fields().filter(|(name, _)| !desired.contains_key(*name)) {
            self.at(Segment::Field(name), Self::record_beyond);
        }
        for (name, value) in desired.iter().filter(|(name, _)| !keys.contains_key(*name)) {
            let inner = owned.field(name);
            self.at(Segment::Field(name), |this| {
                if inner.is_something() { this.value(inner, value) } else { this.missing(value) }
            });
        }
    }

    fn list(&mut self, owned: Owned<'a>, desired: &'a [Value]) {
        if let Some(values) = owned.set() {
            self.set(values, desired);
        } else if let Some(items) = owned.keyed() {
            self.keyed(items, desired);
        }
    }

    fn keyed(&mut self, items: &'a [FieldItem], desired: &'a [Value]) {
        let paired = pair(desired, items.iter().map(|item| &item.keys));
        for (at, item) in items.iter().enumerate() {
            if !paired.contains(&Some(at)) {
                self.at(Segment::Keys(Cow::Borrowed(&item.keys)), Self::record_beyond);
            }
        }
        for (index, (value, pair)) in desired.iter().zip(paired).enumerate() {
            let item = pair.map(|at| &items[at]);
            let segment = match item {
                Some(item) => Segment::Keys(Cow::Borrowed(&item.keys)),
                None => Segment::item(keys_of(value, items[0].keys.keys()), index),
            };
            self.at(segment, |this| match (item, value) {
                (None, value) => this.missing(value),
                (Some(item), _) if item.owned.is_leaf() => {}
                (Some(item), Value::Object(fields)) => {
                    this.fields(Owned::Node(&item.owned), fields, &item.keys);
                }
                (Some(_), _) => {}
            });
        }
    }

    fn set(&mut self, owned: &[Value], desired: &[Value]) {
        if owned.iter().any(|value| !desired.contains(value)) {
            self.record_beyond();
        }
        if desired.iter().any(|value| !owned.contains(value)) {
            self.record_lost();
        }
    }

    /// A desired value without a field of ours. The server tracks neither the identity of an
    /// object nor empty lists; it does track `{}`.
    fn missing(&mut self, desired: &Value) {
        const IDENTITY: [&[&str]; 4] =
            [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"]];
        if !is_deeply_empty(desired) && !IDENTITY.iter().any(|names| self.path.is(names)) {
            self.record_lost();
        }
    }

    fn at(&mut self, segment: Segment<'a>, inside: impl FnOnce(&mut Self)) {
        self.path.enter(segment);
        inside(self);
        self.path.leave();
    }

    fn record_beyond(&mut self) {
        record(&mut self.found.beyond, &self.path);
    }

    fn record_lost(&mut self) {
        record(&mut self.found.lost, &self.path);
    }
}

fn record(paths: &mut Vec<String>, path: &Path<'_>) {
    if paths.len() < MAX_PATHS {
        paths.push(path.render());
    }
}

fn is_deeply_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => !fields.is_empty() && fields.values().all(is_deeply_empty),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(fields: &Value, desired: &Value) -> Ownership {
        ownership(&FieldSet::parse(&fields.to_string()).unwrap(), desired)
    }

    #[test]
    fn fields_that_we_own_and_do_not_desire_are_found() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}, "f:b/c": {}}, "f:finalizers": {"v:\"x/y\"": {}}},
            "f:spec": {
                "f:selector": {},
                "f:ports": {
                    "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}},
                    "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
                },
            },
        });
        let all = json!({
            "metadata": {"labels": {"a": "1", "b/c": "2"}, "finalizers": ["x/y"]},
            "spec": {"selector": {"x": "y"}, "ports": [{"port": 80, "name": "n"}, {"port": 81}]},
        });
        assert_eq!(found(&fields, &all), Ownership::default());
        let less = json!({
            "metadata": {"labels": {"a": "1"}, "finalizers": ["z"]},
            "spec": {"ports": [{"port": 80}]},
        });
        let mut beyond = found(&fields, &less).beyond;
        beyond.sort();
        assert_eq!(
            beyond,
            [
                ".metadata.finalizers",
                ".metadata.labels[\"b/c\"]",
                ".spec.ports[port=80,protocol=\"TCP\"].name",
                ".spec.ports[port=81,protocol=\"TCP\"]",
                ".spec.selector",
            ]
        );
    }

    #[test]
    fn one_desired_item_matches_one_item_of_the_cluster() {
        let fields = json!({"f:ports": {
            "k:{\"port\":53,\"protocol\":\"TCP\"}": {}, "k:{\"port\":53,\"protocol\":\"UDP\"}": {},
        }});
        let desired = json!({"ports": [{"port": 53}]});
        assert_eq!(found(&fields, &desired).beyond.len(), 1);
    }

    /// The server defaults a key that is not applied, and then it is not ours.
    #[test]
    fn a_key_that_was_applied_and_is_not_desired_makes_it_another_item() {
        let ports = |protocol: &str, more: Value| {
            let mut owned = json!({".": {}, "f:port": {}});
            owned.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"f:ports": {format!("k:{{\"port\":53,\"protocol\":\"{protocol}\"}}"): owned}})
        };
        let desired = json!({"ports": [{"port": 53}]});
        for (fields, expected) in [
            (
                ports("UDP", json!({"f:protocol": {}})),
                &[".ports[port=53,protocol=\"UDP\"].protocol"][..],
            ),
            (
                ports("TCP", json!({"f:protocol": {}})),
                &[".ports[port=53,protocol=\"TCP\"].protocol"],
            ),
            (ports("TCP", json!({})), &[]),
        ] {
            assert_eq!(found(&fields, &desired).beyond, expected, "{fields}");
            let explicit = json!({"ports": [{"port": 53, "protocol": "TCP"}]});
            let is_other = fields.to_string().contains("UDP");
            assert_eq!(found(&fields, &explicit) == Ownership::default(), !is_other, "{fields}");
        }
    }

    #[test]
    fn fields_that_we_desire_and_do_not_own_are_lost() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"x/y\"": {}}},
            "f:spec": {"f:ports": {
                "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
            }},
        });
        let desired = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "n", "namespace": "ns", "labels": {"a": "1", "b": "2"},
                "finalizers": ["x/y", "z"],
            },
            "spec": {
                "selector": {"x": "y"}, "externalIPs": [], "podSelector": {},
                "affinity": {"terms": []},
                "ports": [{"port": 80, "name": "n"}, {"port": 81}],
            },
        });
        let Ownership { beyond, mut lost } = found(&fields, &desired);
        lost.sort();
        assert_eq!(beyond, Vec::<String>::new());
        assert_eq!(
            lost,
            [
                ".metadata.finalizers",
                ".metadata.labels.b",
                ".spec.podSelector",
                ".spec.ports[port=80,protocol=\"TCP\"].name",
                ".spec.ports[port=81]",
                ".spec.selector",
            ]
        );
    }
}
