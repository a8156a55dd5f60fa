//! Hashes of JSON trees that do not depend on the order of fields. They live as long as the
//! process and are never stored.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io,
};

use serde_json::{Map, Number, Value};

/// The hash of a tree.
pub(super) fn of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

/// How many bytes the tree has as text.
pub(super) fn bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    // Neither a tree nor a counter can fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

pub(super) fn feed(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(value) => (1_u8, value).hash(hasher),
        Value::Number(number) => feed_number(number, hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                feed(item, hasher);
            }
        }
        Value::Object(fields) => feed_fields(fields, hasher),
    }
}

fn feed_number(number: &Number, hasher: &mut impl Hasher) {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(number), _, _) => (2_u8, number).hash(hasher),
        (None, Some(number), _) => (2_u8, number).hash(hasher),
        (None, None, float) => (2_u8, float.map(f64::to_bits)).hash(hasher),
    }
}

fn feed_fields(fields: &Map<String, Value>, hasher: &mut impl Hasher) {
    (5_u8, fields.len()).hash(hasher);
    let mut feed_one = |(name, value): (&String, &Value)| {
        name.hash(hasher);
        feed(value, hasher);
    };
    // They are, unless some crate has asked serde_json to keep the order of insertion.
    if fields.keys().is_sorted() {
        return fields.iter().for_each(feed_one);
    }
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    sorted.into_iter().for_each(&mut feed_one);
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
