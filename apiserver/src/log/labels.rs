//! The labels of an object, in one text: a map would take ten times as much memory.

use std::fmt;

use serde_json::Value;

/// The labels of an object.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    /// All keys, each before its value.
    text: Box<str>,
    /// Where each key and each value ends.
    ends: Box<[u32]>,
}

impl Labels {
    /// Reads `metadata.labels`. A value that is no text counts as empty.
    pub(super) fn read(value: &Value) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for (key, value) in value.as_object().into_iter().flatten() {
            for part in [key, value.as_str().unwrap_or_default()] {
                text.push_str(part);
                // No object has so many bytes.
                ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            }
        }
        Self { text: text.into(), ends: ends.into() }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value of a label.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        let mut part = move |end: u32| {
            let (from, to) = (start, end as usize);
            start = to;
            &self.text[from..to]
        };
        self.ends.chunks_exact(2).map(move |ends| (part(ends[0]), part(ends[1])))
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_label_has_its_own_value() {
        let labels = Labels::read(&json!({"a": "bc", "ab": "c", "empty": "", "ä": "ö", "x": 1}));
        for (key, value) in [("a", "bc"), ("ab", "c"), ("empty", ""), ("ä", "ö"), ("x", "")] {
            assert_eq!(labels.get(key), Some(value), "{key}");
        }
        assert_eq!((labels.get("b"), labels.get("")), (None, None));
        assert_eq!(Labels::read(&Value::Null), Labels::default());
        assert_eq!(format!("{:?}", Labels::read(&json!({"a": "b"}))), r#"{"a": "b"}"#);
    }
}
