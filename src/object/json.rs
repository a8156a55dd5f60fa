//! Reads the fields of a JSON object without building a tree of their values.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The fields of a JSON object in their order, each value still text.
#[derive(Default)]
pub(super) struct RawFields<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawFields<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    /// How many bytes they have as a JSON object, or as further fields of one.
    pub(super) fn bytes(&self) -> usize {
        2 + self.0.iter().map(|(name, value)| name.len() + value.get().len() + 4).sum::<usize>()
    }

    pub(super) fn text(&self, name: &str) -> serde_json::Result<Option<Cow<'a, str>>> {
        let text: Option<BorrowedText<'a>> = self.parse(name)?;
        Ok(text.map(|BorrowedText(text)| text))
    }

    /// A field as a value; `None` for `null`, or if it is missing.
    pub(super) fn parse<T: Deserialize<'a>>(&self, name: &str) -> serde_json::Result<Option<T>> {
        self.get(name).map_or(Ok(None), serde_json::from_str)
    }
}

/// The parser of trees allows 128 levels from the root of an object.
pub(super) const MAX_DEPTH: usize = 120;

/// Whether a JSON text is nested deeper than that. Each level needs a bracket, and most texts have
/// too few of them.
pub(super) fn is_too_deep(json: &str) -> bool {
    let is_open = |byte: &u8| matches!(byte, b'{' | b'[');
    let most = json.bytes().filter(is_open).count();
    most > MAX_DEPTH && depth(json) > MAX_DEPTH
}

fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether a JSON text can be parsed as a tree. Two things are JSON but fit no tree: a number
/// beyond 64 bits, and half of a surrogate pair. No Kubernetes API server sends either; a proxy
/// before one may.
pub(super) fn is_tree(json: &str) -> bool {
    !may_be_no_tree(json.as_bytes()) || serde_json::from_str::<serde_json::Value>(json).is_ok()
}

/// A fast check with false positives: a uid may look as if it had an exponent. Every received text
/// is checked, many bytes at a time, as each check is independent of the one before.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator would check byte by byte")]
fn may_be_no_tree(json: &[u8]) -> bool {
    let [first, second, third] = [0, 1, 2].map(|skipped| json.get(skipped..).unwrap_or_default());
    let places = first.iter().zip(second).zip(third);
    let is_suspect = places.fold(false, |found, ((&a, &b), &c)| {
        let is_exponent =
            a.is_ascii_digit() & (b | 0x20 == b'e') & (c.is_ascii_digit() | (c == b'+'));
        found | is_exponent | ((a == b'\\') & (b == b'u'))
    });
    // A number of that size has more than 300 digits.
    is_suspect || json.chunks_exact(64).any(|it| it.iter().all(u8::is_ascii_digit))
}

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = RawFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((BorrowedText(name), value)) = map.next_entry()? {
            fields.push((name, value));
        }
        Ok(RawFields(fields))
    }
}

/// A text that is borrowed where it holds no escape.
#[derive(Deserialize)]
pub(crate) struct BorrowedText<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Writes `{"name":value,...}` from values that are already JSON text.
pub(super) struct ObjectWriter(String);

impl ObjectWriter {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut json = String::with_capacity(bytes);
        json.push('{');
        Self(json)
    }

    pub(super) fn field(&mut self, name: &str, value: &str) {
        self.name(name);
        self.0.push_str(value);
    }

    /// Adds a field whose value is a string.
    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_text(&mut self.0, value);
    }

    /// Adds a field whose value is an object; returns how many bytes the value has.
    pub(super) fn object(&mut self, name: &str, fields: &RawFields<'_>) -> usize {
        self.name(name);
        let start = self.0.len();
        self.0.push('{');
        fields.0.iter().for_each(|(name, value)| self.field(name, value.get()));
        self.0.push('}');
        self.0.len() - start
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    /// Ends with the fields of an object that has some.
    pub(super) fn finish_with(mut self, object: &str) -> String {
        self.0.push(',');
        self.0.push_str(&object[1..]);
        self.0
    }

    fn name(&mut self, name: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        push_text(&mut self.0, name);
        self.0.push(':');
    }
}

/// Writes a JSON string; field names rarely need escapes.
fn push_text(json: &mut String, text: &str) {
    let is_plain = text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if is_plain {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count_as_nesting() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        for (text, expected) in [
            ("1".to_owned(), 0),
            (nested(7), 7),
            (r#"{"a":[{}],"b":"[[[{{{"}"#.to_owned(), 3),
            (r#"{"a":"]}\"]}\\","b":[[]]}"#.to_owned(), 3),
        ] {
            assert_eq!(depth(&text), expected, "{text}");
        }
        assert!(!is_too_deep(&nested(MAX_DEPTH)) && is_too_deep(&nested(MAX_DEPTH + 1)));
        assert!(!is_too_deep(&format!("[{}1]", "[1],".repeat(1000))), "wide, and not deep");
    }

    #[test]
    fn json_that_fits_no_tree_is_found() {
        for (text, expected) in [
            (r#"{"a":1.5e3,"b":"2e7a","c":"\u00e4 \ud83d\ude00"}"#, true),
            (&"9".repeat(300), true),
            (r#""\\ud800""#, true),
            ("1e999", false),
            (r#"{"a":[1E+999]}"#, false),
            (&"9".repeat(400), false),
            (r#"["\ud800"]"#, false),
        ] {
            let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
            assert_eq!((is_json, is_tree(text)), (true, expected), "{text}");
        }
    }
}
