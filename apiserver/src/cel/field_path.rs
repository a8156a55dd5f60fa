//! The `fieldPath` of a rule: from `.a['b-c'].d` to the field that an error is reported at.

use crate::schema::{FieldPath, Schema};

/// The path that a rule at `schema` points at, or why it is none.
pub(super) fn normalise(path: &str, schema: &Schema) -> Result<FieldPath, &'static str> {
    let mut tokens = Tokens(path);
    let mut at = Place { path: FieldPath::root(), schema };
    while let Some(token) = tokens.next() {
        match token {
            "." => {
                let name = tokens.next().ok_or("unexpected end of JSON path")?;
                at.enter(name)?;
            }
            "[" => {
                let quoted = tokens.next().ok_or("unexpected end of JSON path")?;
                let name = unquoted(quoted).ok_or("expected single quoted string")?;
                at.enter(&name)?;
                if tokens.next() != Some("]") {
                    return Err("expected ]");
                }
            }
            _ => return Err("expected [ or ."),
        }
    }
    Ok(at.path)
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

fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut out = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next()? {
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\x0b',
                other @ ('\'' | '\\') => other,
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
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
        assert_eq!(path(".b"), Err("does not refer to a valid field"));
        assert_eq!(path("a"), Err("expected [ or ."));
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
