//! Paths in a schema: the `fieldPath` of a rule, from `.a['b-c'].d` to the field that an error is reported at, and the
//! fields that selectors may name.

use crate::schema::{FieldPath, Schema};

/// The path that a rule at `schema` points at, or why it is none.
pub(super) fn normalise(path: &str, schema: &Schema) -> Result<FieldPath, String> {
    follow(path, schema, true).map(|place| place.path)
}

/// The field of whole objects that a selector names, as a path and its schema, or why it is none.
pub(crate) fn selected_field<'a>(
    path: &str,
    schema: &'a Schema,
) -> Result<(String, &'a Schema), String> {
    follow(path, schema, false).map(|place| (place.path.to_string(), place.schema))
}

fn follow<'a>(path: &str, schema: &'a Schema, may_quote: bool) -> Result<Place<'a>, String> {
    const END: &str = "unexpected end of JSON path";
    let mut tokens = Tokens(path);
    let mut at = Place { path: FieldPath::root(), schema };
    while let Some(token) = tokens.next() {
        match token {
            "." => at.enter(tokens.next().ok_or(END)?)?,
            "[" if !may_quote => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or(END)?;
                let inner = quoted.strip_prefix('\'').and_then(|quoted| quoted.strip_suffix('\''));
                let inner = inner
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                at.enter(
                    &unescaped(inner).map_err(|why| format!("invalid string literal: {why}"))?,
                )?;
                let end = tokens.next().ok_or(END)?;
                if end != "]" {
                    return Err(format!("expected ] but got {end}"));
                }
            }
            token => return Err(format!("expected [ or . but got: {token}")),
        }
    }
    Ok(at)
}

struct Place<'a> {
    path: FieldPath,
    schema: &'a Schema,
}

impl Place<'_> {
    fn enter(&mut self, name: &str) -> Result<(), &'static str> {
        const NOT_A_FIELD: &str = "does not refer to a valid field";
        let schema = self.schema;
        if schema.properties.is_empty() {
            self.schema = schema.additional_properties.as_deref().ok_or(NOT_A_FIELD)?;
            self.path = self.path.key(name);
        } else {
            self.schema = schema.properties.get(name).ok_or(NOT_A_FIELD)?;
            self.path = self.path.child(name);
        }
        Ok(())
    }
}

struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => closing_quote(self.0)?,
            _ => self.0.find(['.', '[', ']']).unwrap_or(self.0.len()),
        };
        debug_assert!(end > 0, "no progress at {:?}", self.0);
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

fn closing_quote(text: &str) -> Option<usize> {
    let quotes = text.match_indices('\'').skip(1).map(|(at, _)| at);
    let mut free = quotes.filter(|at| !text[..*at].ends_with('\\'));
    free.next().map(|at| at + 1)
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        out.push(match characters.next() {
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\x0b',
            Some(other @ ('\'' | '\\')) => other,
            Some(other) => return Err(format!("invalid escape char \\{other}")),
            None => '\\',
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_follow_the_schema() {
        let schema = Schema::from_open_api(
            &json!({"properties": {"a": {"additionalProperties": {"properties": {"b.c": {}}}}}}),
        );
        let path = |text: &str| normalise(text, &schema).map(|path| path.to_string());
        assert_eq!(path(".a.x['b.c']").unwrap(), "a[x].b.c");
        let refusal = |text: &str| path(text).unwrap_err();
        assert_eq!(refusal(".b"), "does not refer to a valid field");
        assert_eq!(refusal("a"), "expected [ or . but got: a");
        assert_eq!(refusal(".a[x]"), "expected single quoted string but got x");
        let selected = |text: &str| selected_field(text, &schema).map(|(path, _)| path);
        assert_eq!(selected(".a.x").unwrap(), "a[x]");
        assert_eq!(selected(".a['x']").unwrap_err(), "array notation is not allowed");
    }

    #[test]
    fn any_text_is_a_path_or_refused() {
        const TOKENS: [&str; 14] = [
            ".", "[", "]", "'", "['a']", "a", ".a", "b.c", "\\", "\\'", "\\n", "['b.c']", "x", "''",
        ];
        let schema =
            json!({"properties": {"a": {"additionalProperties": {"properties": {"b.c": {}}}}}});
        let schema = Schema::from_open_api(&schema);
        let parser = |text: &str| drop(normalise(text, &schema));
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
