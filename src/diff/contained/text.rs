//! Whether the JSON text of an object contains the desired one. Most children are up to date at
//! most times, and finding that out takes no tree.
//!
//! It answers yes only where the comparison of trees finds no difference. It leaves to that
//! comparison what needs a closer look: defaults, dropped values, lists in another order.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::{
    diff::{
        builtin,
        fields::{Owned, pair},
    },
    object::{BorrowedText, FieldSet, Object},
};

/// Whether an object is up to date beyond doubt, given the fields that we own.
pub(in crate::diff) fn is_plainly_contained(
    desired: &Value,
    live: &Object,
    fields: &FieldSet,
) -> bool {
    let Value::Object(desired) = desired else { return false };
    let live = live.json();
    let mut text = serde_json::Deserializer::from_str(&live);
    let owned = Owned::root(Some(fields));
    // The type was compared before, and is not in the text.
    let of_type = ["apiVersion", "kind"].iter().filter(|name| desired.contains_key(**name));
    let fields = Fields { desired, owned, elsewhere: of_type.count() };
    text.deserialize_map(fields).is_ok()
}

/// A desired value with which the live text is compared. The first value that is not plainly equal
/// ends the comparison.
struct Beside<'a> {
    desired: &'a Value,
    owned: Owned<'a>,
}

/// The same for the fields of an object.
struct Fields<'a> {
    desired: &'a Map<String, Value>,
    owned: Owned<'a>,
    /// How many of the desired fields are not in the text.
    elsewhere: usize,
}

fn unsure<T, E: Error>() -> Result<T, E> {
    Err(E::custom("not plainly equal"))
}

impl Beside<'_> {
    fn is<E: Error>(&self, live: impl Into<Value>) -> Result<(), E> {
        if *self.desired == live.into() { Ok(()) } else { unsure() }
    }

    fn items<'de, A: SeqAccess<'de>>(
        &self,
        mut live: A,
        owned: impl Fn(usize) -> Option<Self>,
    ) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(item) = owned(count) {
            if live.next_element_seed(item)?.is_none() {
                return unsure();
            }
            count += 1;
        }
        let is_whole = self.desired.as_array().is_some_and(|items| items.len() == count);
        if is_whole && live.next_element::<IgnoredAny>()?.is_none() { Ok(()) } else { unsure() }
    }
}

impl<'de> DeserializeSeed<'de> for Beside<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Beside<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the desired value")
    }

    fn visit_bool<E: Error>(self, live: bool) -> Result<(), E> {
        self.is(live)
    }

    fn visit_i64<E: Error>(self, live: i64) -> Result<(), E> {
        self.is(live)
    }

    fn visit_u64<E: Error>(self, live: u64) -> Result<(), E> {
        self.is(live)
    }

    fn visit_f64<E: Error>(self, live: f64) -> Result<(), E> {
        self.is(live)
    }

    fn visit_str<E: Error>(self, live: &str) -> Result<(), E> {
        if self.desired.as_str() == Some(live) { Ok(()) } else { unsure() }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, live: A) -> Result<(), A::Error> {
        let Value::Array(items) = self.desired else { return unsure() };
        if let Some(owned) = self.owned.keyed() {
            // If every item is up to date, these are the items with the same keys.
            let pairs = pair(items, owned.iter().map(|item| &item.keys));
            return self.items(live, |at| {
                let owned = Owned::Node(&owned.get((*pairs.get(at)?)?)?.owned);
                Some(Beside { desired: &items[at], owned })
            });
        }
        let owned = if self.owned.is_whole() { Owned::Whole } else { Owned::Nothing };
        self.items(live, |at| Some(Beside { desired: items.get(at)?, owned }))
    }

    fn visit_map<A: MapAccess<'de>>(self, live: A) -> Result<(), A::Error> {
        let Value::Object(desired) = self.desired else { return unsure() };
        Fields { desired, owned: self.owned, elsewhere: 0 }.visit_map(live)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the desired fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut live: A) -> Result<(), A::Error> {
        let mut missing = self.desired.len() - self.elsewhere;
        while let Some(BorrowedText(name)) = live.next_key()? {
            if let Some(desired) = self.desired.get(&*name) {
                let owned = self.owned.field(&name);
                if builtin::names_selector(&name) && !owned.is_something() {
                    // A selector with more in it than desired would differ.
                    return unsure();
                }
                live.next_value_seed(Beside { desired, owned })?;
                missing = missing.saturating_sub(1);
            } else if self.owned.is_whole() {
                // It may have been desired before.
                return unsure();
            } else {
                live.next_value::<IgnoredAny>()?;
            }
        }
        if missing == 0 { Ok(()) } else { unsure() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn is_plain(desired: &Value, live: &Value, fields: &Value) -> bool {
        let mut live = live.clone();
        live["metadata"] = json!({"name": "a", "uid": "u", "resourceVersion": "1"});
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let live = Object::from_value(&ty, &live, &KeptManagers::default()).unwrap();
        let mut desired = desired.clone();
        desired["apiVersion"] = json!("v1");
        desired["kind"] = json!("Pod");
        desired["metadata"] = json!({"name": "a"});
        let fields = fields.to_string();
        is_plainly_contained(&desired, &live, &FieldSet::parse(&fields).unwrap())
    }

    #[test]
    fn additional_fields_of_the_live_object_are_no_difference() {
        let fields = json!({"f:spec": {
            "f:a": {}, "f:whole": {}, "f:args": {}, "f:set": {"v:\"x\"": {}},
            "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}},
        }});
        let desired = json!({"spec": {
            "a": "\u{e9}\n", "whole": {"b": 1}, "args": [1.5, true, -2], "set": ["x"],
            "ports": [{"port": 80}],
        }});
        let mut live = desired.clone();
        live["spec"]["default"] = json!({"deep": [null]});
        live["spec"]["ports"][0]["protocol"] = json!("TCP");
        live["status"] = json!({"phase": "Running"});
        assert!(is_plain(&desired, &live, &fields));
        for (path, other) in [
            ("/spec/a", json!("e")),
            ("/spec/a", Value::Null),
            ("/spec/whole", json!({"b": 1, "more": 2})),
            ("/spec/whole/b", json!(2)),
            ("/spec/args", json!([1.5, true])),
            ("/spec/args", json!([1.5, true, -2, 0])),
            ("/spec/args/2", json!("-2")),
            ("/spec/set", json!({"0": "x"})),
            ("/spec/ports", json!([])),
            ("/spec/ports/0/port", json!(81)),
            ("/spec", json!([])),
        ] {
            let mut live = live.clone();
            *live.pointer_mut(path).unwrap() = other;
            assert!(!is_plain(&desired, &live, &fields), "{path}: {live}");
        }
    }

    #[test]
    fn missing_values_are_left_to_the_comparison_of_trees() {
        let fields = json!({"f:spec": {"f:a": {}, "f:ports": {"k:{\"port\":80}": {".": {}}}}});
        let live = json!({"spec": {"a": 1, "ports": [{"port": 80}, {"port": 81}]}});
        for desired in [
            json!({"spec": {"a": 1, "empty": ""}}),
            json!({"spec": {"a": 1}, "data": {}}),
            // The second is not ours yet.
            json!({"spec": {"ports": [{"port": 80}, {"port": 81}]}}),
        ] {
            assert!(!is_plain(&desired, &live, &fields), "{desired}");
        }
        assert!(is_plain(&json!({"spec": {"a": 1}}), &live, &fields));
    }
}
