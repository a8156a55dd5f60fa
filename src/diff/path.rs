//! JSON paths as users write them. A path shows no values, except the keys of list items.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// At most so many paths are reported.
pub(crate) const MAX_PATHS: usize = 10;

/// The path from the root of an object to one of its values.
#[derive(Debug, Default)]
pub(crate) struct Path<'a>(Vec<Segment<'a>>);

#[derive(Debug)]
pub(crate) enum Segment<'a> {
    Field(&'a str),
    Index(usize),
    /// The keys of an item of a list.
    Keys(Cow<'a, Map<String, Value>>),
}

impl Segment<'_> {
    /// An item of a list by its keys, as its position may be another in the cluster; by its
    /// position if it has none.
    pub(crate) fn item(keys: Map<String, Value>, index: usize) -> Self {
        if keys.is_empty() { Segment::Index(index) } else { Segment::Keys(Cow::Owned(keys)) }
    }
}

impl<'a> Path<'a> {
    /// One step further down, until `leave`.
    pub(crate) fn enter(&mut self, segment: Segment<'a>) {
        self.0.push(segment);
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// The name of the last field; positions in lists are skipped.
    pub(crate) fn last_field(&self) -> Option<&'a str> {
        self.fields().next()
    }

    /// Whether the last field names are these; positions in lists are skipped, `*` is any name.
    pub(crate) fn ends_with(&self, names: &[&str]) -> bool {
        let mut fields = self.fields();
        names.iter().rev().all(|name| fields.next().is_some_and(|f| *name == "*" || f == *name))
    }

    pub(crate) fn is(&self, names: &[&str]) -> bool {
        self.0.len() == names.len() && self.ends_with(names)
    }

    /// Whether the field names from the root are these; positions in lists are skipped, `*` is any name.
    pub(crate) fn has_names(&self, names: &[Box<str>]) -> bool {
        let is_name = |(field, name): (&str, &str)| name == "*" || field == name;
        let names = names.iter().rev().map(|name| &**name);
        self.fields().count() == names.len() && self.fields().zip(names).all(is_name)
    }

    fn fields(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().rev().filter_map(|segment| match segment {
            Segment::Field(name) => Some(*name),
            Segment::Index(_) | Segment::Keys(_) => None,
        })
    }

    /// The path as text, for example `.spec.ports[0].port` or `.metadata.labels["a/b"]`.
    pub(crate) fn render(&self) -> String {
        self.0.iter().map(render).collect()
    }
}

pub(crate) fn render(segment: &Segment<'_>) -> String {
    match segment {
        Segment::Field(name) if is_plain(name) => format!(".{name}"),
        Segment::Field(name) => format!("[{}]", Value::from(*name)),
        Segment::Index(index) => format!("[{index}]"),
        Segment::Keys(keys) => {
            let pairs: Vec<_> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", pairs.join(","))
        }
    }
}

/// A path of ours as the server writes it: it quotes no names.
pub(crate) fn as_the_server_writes(path: &str) -> String {
    let mut parts = path.split("[\"");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("\"]").unwrap_or((part, ""));
        written.push('.');
        written.push_str(name);
        written.push_str(rest);
    }
    written
}

/// The keys of `[port=80,protocol="TCP"].name`, and what follows.
pub(crate) fn keys(path: &str) -> Option<(Map<String, Value>, &str)> {
    let mut rest = path.strip_prefix('[')?;
    let mut keys = Map::new();
    loop {
        let (name, value) = rest.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        let key = values.next()?.ok()?;
        keys.insert(name.to_owned(), key);
        rest = &value[values.byte_offset()..];
        match rest.split_at_checked(1)? {
            (",", more) => rest = more,
            ("]", more) => return Some((keys, more)),
            _ => return None,
        }
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_reads_like_jsonpath() {
        let keys = json!({"port": 80, "protocol": "TCP"});
        let mut path = Path::default();
        for segment in [
            Segment::Field("spec"),
            Segment::Index(2),
            Segment::Field("a/b.c"),
            Segment::Keys(Cow::Owned(keys.as_object().unwrap().clone())),
        ] {
            path.enter(segment);
        }
        assert_eq!(path.render(), r#".spec[2]["a/b.c"][port=80,protocol="TCP"]"#);
        assert!(path.ends_with(&["spec", "*"]) && !path.ends_with(&["*", "*", "*"]));
    }

    #[test]
    fn any_text_has_keys_or_none() {
        const TOKENS: [&str; 16] = [
            "[",
            "]",
            "=",
            ",",
            "port",
            "80",
            "\"TCP\"",
            "\"",
            "\\",
            "[port=80,",
            "{",
            "}",
            "null",
            "[\"",
            "\"]",
            ".name",
        ];
        let parser = |text: &str| {
            assert!(as_the_server_writes(text).len() <= text.len() + 1);
            for text in [text, &format!("[a=1,{text}")] {
                if let Some((found, rest)) = super::keys(text) {
                    assert!(found.len() + rest.len() < text.len());
                }
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
