//! Patterns in the syntax of Go, as a keyword of JSON Schema.
//!
//! JSON Schema speaks the syntax of ECMAScript, which has no `(?i)` and no `\z`. The `regex` crate
//! speaks almost that of Go; where they differ the pattern is rewritten.

use jsonschema::{Keyword, ValidationError, paths::Location};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// The name of the keyword; its value is the pattern.
pub(super) const KEYWORD: &str = "x-pattern";

/// How many bytes a pattern may take, and its automaton once more.
const SIZE_LIMIT: usize = 1 << 20;
/// How deep a pattern may be nested, as in Go.
const NEST_LIMIT: u32 = 250;

struct Pattern(Regex);

/// Makes the keyword from its value.
pub(super) fn compile<'a>(
    _parent: &'a Map<String, Value>,
    value: &'a Value,
    _path: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    match parse(value.as_str().unwrap_or_default()) {
        Ok(regex) => Ok(Box::new(Pattern(regex))),
        Err(error) => Err(ValidationError::schema(error)),
    }
}

/// Reads a pattern; the error says in one line what is wrong with it.
pub(crate) fn parse(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(&rewrite(pattern))
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        let error = || ValidationError::custom(KEYWORD);
        if self.is_valid(instance) { Ok(()) } else { Err(error()) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(|text| self.0.is_match(text))
    }
}

/// Classes mean ASCII only, and within `[...]` nothing but `[:name:]`, ranges and escapes exists.
fn rewrite(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped) => push_escape(&mut out, escaped, in_class),
                None => out.push('\\'),
            },
            '[' if in_class && characters.peek() == Some(&':') => {
                out.push('[');
                for character in characters.by_ref() {
                    out.push(character);
                    if character == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', character]),
            '[' => {
                in_class = true;
                out.push('[');
                out.extend(characters.next_if_eq(&'^'));
                if characters.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            _ => out.push(character),
        }
    }
    out
}

fn push_escape(out: &mut String, escaped: char, in_class: bool) {
    match escaped {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str(r"[\t\n\f\r ]"),
        'S' => out.push_str(r"[^\t\n\f\r ]"),
        'b' if !in_class => out.push_str(r"(?-u:\b)"),
        '<' | '>' => out.push(escaped),
        _ => out.extend(['\\', escaped]),
    }
}
