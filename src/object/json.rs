//! Reading the outline of a JSON object without building a tree of what is inside.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The fields of a JSON object in their order, each value still text.
pub(super) struct RawFields<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawFields<'a> {
    /// The JSON of a field.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    /// A field that is a string, or `null`, or not there.
    pub(super) fn text(&self, name: &str) -> serde_json::Result<Option<Cow<'a, str>>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        let text: Option<Text<'a>> = self.parse(name)?;
        Ok(text.map(|Text(text)| text))
    }

    /// A field as a value; `None` for `null`, or where it is not there.
    pub(super) fn parse<T: Deserialize<'a>>(&self, name: &str) -> serde_json::Result<Option<T>> {
        self.get(name).map_or(Ok(None), serde_json::from_str)
    }
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
        while let Some((BorrowedKey(name), value)) = map.next_entry()? {
            fields.push((name, value));
        }
        Ok(RawFields(fields))
    }
}

/// A key that is borrowed where it holds no escape.
#[derive(Deserialize)]
struct BorrowedKey<'a>(#[serde(borrow)] Cow<'a, str>);

/// Writes `{"name":value,...}` from names and values that are JSON text already.
pub(super) struct ObjectWriter(String);

impl ObjectWriter {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Adds a field whose value is JSON text.
    pub(super) fn field(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        push_text(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(value);
    }

    pub(super) fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

/// Writes a JSON string; field names have hardly ever anything to escape.
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
