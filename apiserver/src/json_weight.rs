//! How much memory a JSON document takes as a tree.
//!
//! Every map that is not empty takes hundreds of bytes. The limit is far above what an object that fits into
//! the store weighs in practice.

use std::io;

use serde_json::Value;

/// How much the tree of a document may weigh, in bytes.
pub(crate) const TREE_LIMIT: usize = 64 * 1024 * 1024;
/// A map with its first members.
pub(crate) const MAP: usize = 640;
/// A value beside the map or list that it is in.
pub(crate) const VALUE: usize = 64;

/// The weight of a tree.
pub(crate) fn of(value: &Value) -> usize {
    VALUE
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(of).sum(),
            Value::Object(map) if map.is_empty() => 0,
            Value::Object(map) => {
                MAP + map.iter().map(|(key, value)| key.len() + of(value)).sum::<usize>()
            }
        }
}

/// How deep a tree is, and how many values it has.
pub(crate) fn depth(value: &Value) -> (usize, usize) {
    let below = |(depth, count): (usize, usize), (deeper, more): (usize, usize)| {
        (depth.max(deeper), count + more)
    };
    let (depth, count) = match value {
        Value::Array(list) => list.iter().map(self::depth).fold((0, 0), below),
        Value::Object(map) => map.values().map(self::depth).fold((0, 0), below),
        _ => return (0, 1),
    };
    (depth + 1, count + 1)
}

/// The length of a tree as text.
pub(crate) fn json_length(value: &Value) -> usize {
    let mut length = Length(0);
    // Nothing is written, so that nothing can fail.
    let _ = serde_json::to_writer(&mut length, value);
    length.0
}

struct Length(usize);

impl io::Write for Length {
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

    #[test]
    fn the_length_is_that_of_the_text() {
        let value = json!({"a": [1, 2, {"b": "text"}], "c": {}});
        assert_eq!(json_length(&value), value.to_string().len());
    }
}
