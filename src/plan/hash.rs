//! Hashes of JSON trees that do not depend on the order of fields. They live as long as the
//! process and are never stored.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

pub(super) fn of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

pub(super) fn feed(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(value) => (1_u8, value).hash(hasher),
        Value::Number(number) => (2_u8, number.to_string()).hash(hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                feed(item, hasher);
            }
        }
        Value::Object(fields) => {
            (5_u8, fields.len()).hash(hasher);
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in sorted {
                name.hash(hasher);
                feed(value, hasher);
            }
        }
    }
}
