//! Reads the values of a document one after another, and weighs them.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::{
    deep,
    json_weight::{self, TREE_LIMIT},
};

/// The state of the reading of one document.
#[derive(Debug, Default)]
pub(super) struct Reading {
    weight: usize,
    depth: usize,
    pub(super) is_too_large: bool,
    /// The paths of members that were given twice.
    pub(super) duplicates: Vec<String>,
    /// The number of duplicates that do not stop the reading.
    stop_after: Option<usize>,
}

impl Reading {
    /// A reading that stops at the first duplicate after this number of them.
    pub(super) fn stopping_after(duplicates: usize) -> Self {
        Self { stop_after: Some(duplicates), ..Self::default() }
    }

    fn weigh<E: de::Error>(&mut self, weight: usize) -> Result<(), E> {
        self.weight += weight;
        self.is_too_large |= self.weight > TREE_LIMIT;
        if self.is_too_large { Err(E::custom("too large")) } else { Ok(()) }
    }

    fn descend<E: de::Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        if self.depth <= deep::limit() {
            return Ok(());
        }
        deep::stop();
        Err(E::custom("exceeded max depth"))
    }

    /// Puts a step before the paths of duplicates from an index on.
    fn prepend(&mut self, since: usize, step: &str) {
        for path in &mut self.duplicates[since..] {
            let dot = if path.starts_with('[') { "" } else { "." };
            *path = format!("{step}{dot}{path}");
        }
    }
}

/// Reads a value.
pub(super) struct Node<'r>(pub(super) &'r mut Reading);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.0.weigh(text.len())?;
        Ok(Value::from(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        self.0.descend()?;
        let mut list = Vec::new();
        loop {
            let since = self.0.duplicates.len();
            let Some(element) = elements.next_element_seed(Node(self.0))? else { break };
            self.0.prepend(since, &format!("[{}]", list.len()));
            self.0.weigh(json_weight::VALUE)?;
            list.push(element);
        }
        self.0.depth -= 1;
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.0.descend()?;
        let mut map = Map::new();
        while let Some(key) = members.next_key_seed(Key(self.0, &map))? {
            let own = if map.is_empty() { json_weight::MAP } else { json_weight::VALUE };
            self.0.weigh(key.len() + own)?;
            let since = self.0.duplicates.len();
            let value = members.next_value_seed(Node(self.0))?;
            self.0.prepend(since, &key);
            map.insert(key, value);
        }
        self.0.depth -= 1;
        Ok(Value::Object(map))
    }
}

/// Reads the name of a member.
struct Key<'r, 'm>(&'r mut Reading, &'m Map<String, Value>);

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<String, E> {
        if self.1.contains_key(key) {
            self.0.duplicates.push(key.to_owned());
            if self.0.stop_after.is_some_and(|limit| self.0.duplicates.len() > limit) {
                return Err(E::custom("duplicate"));
            }
        }
        Ok(key.to_owned())
    }
}
