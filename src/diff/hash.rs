//! Hashes of JSON trees that do not depend on the order of fields. They live as long as the
//! process and are never stored.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io,
};

use serde_json::{Map, Number, Value};

/// The hash of a tree, or its size as text in bytes if that exceeds a limit.
pub(crate) fn within(limit: usize, value: &Value) -> Result<u64, usize> {
    let mut hasher = Gathering::default();
    feed(value, &mut hasher);
    // An escaped character has six bytes, and no value has more for each byte of its hash.
    match hasher.0.len().checked_mul(6) {
        Some(bound) if bound <= limit => Ok(hasher.finish()),
        _ => match bytes(value) {
            bytes if bytes <= limit => Ok(hasher.finish()),
            bytes => Err(bytes),
        },
    }
}

fn bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    // Neither a tree nor a counter can fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

pub(crate) fn feed(value: &Value, hasher: &mut impl Hasher) {
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

pub(crate) fn feed_fields(fields: &Map<String, Value>, hasher: &mut impl Hasher) {
    (5_u8, fields.len()).hash(hasher);
    let mut feed_one = |(name, value): (&String, &Value)| {
        name.hash(hasher);
        feed(value, hasher);
    };
    // They are, unless some crate enables `preserve_order` of serde_json.
    if fields.keys().is_sorted() {
        return fields.iter().for_each(feed_one);
    }
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    sorted.into_iter().for_each(&mut feed_one);
}

/// Hashes everything at once, and not the many short pieces of a tree one by one.
#[derive(Default)]
struct Gathering(Vec<u8>);

impl Hasher for Gathering {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.0);
        hasher.finish()
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> u64 {
        let mut hasher = Gathering::default();
        feed(value, &mut hasher);
        hasher.finish()
    }

    #[test]
    fn a_tree_above_the_limit_is_measured_exactly() {
        let odd = json!({"\u{1}": ["\u{2}\u{3}", null, true, false, -1.5e300, u64::MAX, {}, []]});
        for value in [odd, json!(null), json!(""), json!(false), json!([[]])] {
            let bytes = value.to_string().len();
            assert_eq!(within(bytes, &value), Ok(of(&value)), "{value}");
            assert_eq!(within(bytes - 1, &value), Err(bytes), "{value}");
        }
    }

    #[test]
    fn no_value_has_more_text_than_six_bytes_for_each_byte_of_its_hash() {
        let escaped = "\u{1}".repeat(50);
        for value in [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(u64::MAX),
            json!(-1.5e-300),
            json!(""),
            json!(escaped),
            json!([]),
            json!([null, null]),
            json!({}),
            json!({"": null, "a": false, escaped.clone(): []}),
        ] {
            let mut hasher = Gathering::default();
            feed(&value, &mut hasher);
            // And one for the comma behind it.
            assert!(value.to_string().len() < hasher.0.len() * 6, "{value}");
        }
    }
}
