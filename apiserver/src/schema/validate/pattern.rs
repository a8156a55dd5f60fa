//! Patterns in the syntax of Go.
//!
//! The `regex` crate speaks almost that syntax; where they differ the pattern is rewritten.

use regex::{Regex, RegexBuilder};

use super::go_syntax;

/// How many bytes a pattern may take, and its automaton once more.
const SIZE_LIMIT: usize = 1 << 20;
/// How deep a pattern may be nested, as in Go.
const NEST_LIMIT: u32 = 250;

/// Reads a pattern; the error says in one line what is wrong with it.
pub(crate) fn parse(pattern: &str) -> Result<Regex, String> {
    if let Some(fault) = go_syntax::fault(pattern) {
        return Err(fault);
    }
    let built = RegexBuilder::new(&rewrite(&plain(pattern)))
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })
}

/// The pattern without names of groups and quoted texts, and with brackets escaped that count nothing.
fn plain(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let named = rest.strip_prefix("(?P<").or_else(|| rest.strip_prefix("(?<"));
        if let Some((_, inner)) = named.and_then(|named| named.split_once('>')) {
            out.push('(');
            rest = inner;
        } else if let Some(quoted) = rest.strip_prefix("\\Q") {
            let (text, unquoted) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            out.push_str(&regex::escape(text));
            rest = unquoted;
        } else if let Some(escaped) = after.chars().next().filter(|_| character == '\\') {
            // What braces enclose here is a name, not a count.
            let braced = matches!(escaped, 'p' | 'P' | 'x') && after[1..].starts_with('{');
            let end = if braced {
                after.find('}').map_or(after.len(), |end| end + 1)
            } else {
                escaped.len_utf8()
            };
            out.push(character);
            out.push_str(&after[..end]);
            rest = &after[end..];
        } else {
            if character == '{' && go_syntax::counts(rest).is_none() {
                out.push('\\');
            }
            out.push(character);
            rest = after;
        }
    }
    out
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
