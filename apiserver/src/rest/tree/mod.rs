//! From JSON or YAML to a tree, within limits that hold while it is read, not after.
//!
//! A tree can be ninety times as large as its text, and YAML repeats what has an anchor. Members that a map
//! has twice are remembered: the last one counts, and a strict client gets an error.

mod reading;
mod unicode;

use std::fmt;

use serde::de::DeserializeSeed;
use serde_json::Value;

use self::reading::{Node, Reading};
use crate::{json_weight::TREE_LIMIT, status::StatusError, write::Complaints};

/// How many lines and separators a YAML text may have. Its parser keeps an event for each, in vain.
const YAML_EVENTS: usize = 400_000;
/// How deep a YAML text may be nested, as in Go. The time that its parser takes grows with the square.
const NESTING: usize = 10_000;
/// The length of a YAML text from which only the first duplicate member is looked for.
const LONG: usize = 64 * 1024;
/// How many duplicate members are looked for.
const DUPLICATES_LIMIT: usize = 16;

/// A document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tree {
    pub(super) value: Value,
    /// The members that were given twice, as complaints.
    pub(super) duplicates: Duplicates,
}

/// The members that were given twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// None.
    #[default]
    None,
    /// Their paths, `spec.ports[0].name`.
    Paths(Vec<String>),
    /// Their lines in a YAML text, and their names.
    Lines(Vec<(usize, String)>),
}

/// A text is no document, or too large a one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    TooLarge,
    Malformed(String),
}

impl Tree {
    /// Reads JSON, as Go does: what is no Unicode in its texts is replaced.
    pub(super) fn of_json(text: &[u8]) -> Result<Self, Unread> {
        let read = Self::of_unicode(text);
        let is_malformed = matches!(read, Err(Unread::Malformed(_)));
        match is_malformed.then(|| unicode::repaired(text)).flatten() {
            Some(repaired) => Self::of_unicode(repaired.as_bytes()),
            None => read,
        }
    }

    fn of_unicode(text: &[u8]) -> Result<Self, Unread> {
        let mut reading = Reading::default();
        let mut json = serde_json::Deserializer::from_slice(text);
        json.disable_recursion_limit();
        let read = Node(&mut reading).deserialize(&mut json);
        let read = read.and_then(|value| json.end().map(|()| value));
        let value = read.map_err(|error| Unread::of(&reading, &error))?;
        let paths = reading.duplicates;
        let duplicates =
            if paths.is_empty() { Duplicates::None } else { Duplicates::Paths(unique(paths)) };
        Ok(Self { value, duplicates })
    }

    /// Reads YAML.
    pub(super) fn of_yaml(text: &[u8]) -> Result<Self, Unread> {
        let events = text.iter().filter(|byte| matches!(byte, b'\n' | b',' | b'[' | b'{'));
        if events.count() > YAML_EVENTS {
            return Err(Unread::TooLarge);
        }
        if nesting(text) > NESTING {
            return Err(Unread::Malformed(format!("exceeded max depth of {NESTING}")));
        }
        let mut reading = Reading::default();
        let yaml = serde_yaml_ng::Deserializer::from_slice(text);
        let read = Node(&mut reading).deserialize(yaml);
        let value = read.map_err(|error| Unread::of(&reading, &error))?;
        let duplicates = match reading.duplicates.len() {
            0 => Duplicates::None,
            // A long text is not read often.
            found if text.len() > LONG => {
                Duplicates::Lines(lines_of_duplicates(text, found.min(1)))
            }
            found => Duplicates::Lines(lines_of_duplicates(text, found.min(DUPLICATES_LIMIT))),
        };
        Ok(Self { value, duplicates })
    }
}

/// How deep a YAML text is nested, or more: what is quoted counts too.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_line) = (0_usize, 0, 0);
    for pair in text.windows(2) {
        match pair {
            [b'[' | b'{', _] => depth += 1,
            [b']' | b'}', _] => depth = depth.saturating_sub(1),
            [b'-' | b'?', b' '] => in_line += 1,
            [b'\n', _] => in_line = 0,
            _ => {}
        }
        deepest = deepest.max(depth + in_line);
    }
    deepest
}

impl Unread {
    fn of(reading: &Reading, error: &dyn fmt::Display) -> Self {
        if reading.is_too_large { Self::TooLarge } else { Self::Malformed(error.to_string()) }
    }

    /// The answer, if what is malformed is answered so.
    pub(super) fn refusal(self, malformed: impl FnOnce(&str) -> StatusError) -> StatusError {
        match self {
            Self::TooLarge => StatusError::too_large(TREE_LIMIT),
            Self::Malformed(why) => malformed(&why),
        }
    }
}

impl Duplicates {
    /// What a client is warned of or refused for.
    pub(super) fn complaints(&self) -> Complaints {
        match self {
            Self::None => Complaints::default(),
            Self::Paths(paths) => {
                Complaints::of(paths.iter().map(|p| format!("duplicate field \"{p}\"")).collect())
            }
            Self::Lines(lines) => {
                let line = |(line, key): &(usize, String)| {
                    format!("line {line}: key \"{key}\" already set in map")
                };
                let warnings: Vec<String> = lines.iter().map(line).collect();
                let refusal = format!("yaml: unmarshal errors:\n  {}", warnings.join("\n  "));
                Complaints { warnings, refusals: vec![refusal] }
            }
        }
    }
}

fn unique(paths: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for path in paths {
        if !kept.contains(&path) && kept.len() < DUPLICATES_LIMIT {
            kept.push(path);
        }
    }
    kept
}

/// Reads again up to each duplicate: only an error of the parser says where it is.
fn lines_of_duplicates(text: &[u8], found: usize) -> Vec<(usize, String)> {
    let line_of = |nth: usize| {
        let mut reading = Reading::stopping_after(nth);
        let yaml = serde_yaml_ng::Deserializer::from_slice(text);
        let stopped = Node(&mut reading).deserialize(yaml).err()?;
        Some((stopped.location()?.line(), reading.duplicates.pop()?))
    };
    (0..found).filter_map(line_of).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicate_members_are_found_with_their_paths() {
        let text = br#"{"a":[{"b":1,"b":2}],"c":{"d":{},"d":{"e":1,"e":1}},"a":[],"a":3}"#;
        let tree = Tree::of_json(text).unwrap();
        let paths = ["a[0].b", "c.d", "c.d.e", "a"].map(str::to_owned).to_vec();
        assert_eq!(tree.value, json!({"a": 3, "c": {"d": {"e": 1}}}));
        assert_eq!(tree.duplicates, Duplicates::Paths(paths));
    }

    #[test]
    fn duplicate_members_of_yaml_are_found_with_their_lines() {
        let text = b"a: 1\nb:\n  x: \"1\"\n  x: \"2\"\nc: 1\na: 2\n";
        let tree = Tree::of_yaml(text).unwrap();
        let lines = vec![(4, "x".to_owned()), (6, "a".to_owned())];
        assert_eq!(tree.value, json!({"a": 2, "b": {"x": "2"}, "c": 1}));
        assert_eq!(tree.duplicates, Duplicates::Lines(lines));
    }

    #[test]
    fn a_small_text_with_a_huge_tree_is_refused() {
        let json = format!("[{}0]", r#"{"":0},"#.repeat(400_000));
        assert_eq!(Tree::of_json(json.as_bytes()), Err(Unread::TooLarge));
        let dense = format!("[{}0]", r#"{"type":"string"},"#.repeat(80_000));
        assert!(Tree::of_json(dense.as_bytes()).is_ok());
        let text = format!("[\"{}\"]", "{".repeat(1_000_000));
        assert!(Tree::of_json(text.as_bytes()).is_ok());
    }

    #[test]
    fn anchors_do_not_multiply_without_limit() {
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (one, other) in ('a'..'i').zip('b'..'j') {
            let nine = vec![format!("*{one}"); 9].join(", ");
            bomb.extend([format!("{other}: &{other} [{nine}]\n")]);
        }
        assert!(Tree::of_yaml(bomb.as_bytes()).is_err());
    }

    #[test]
    fn any_text_is_read_or_refused() {
        const TOKENS: [&str; 26] = [
            "{", "}", "[", "]", ": ", ",", "\"a\":", "a:", "- ", "? ", "\n", " ", "  ", "&a", "*a",
            "<<: *a", "!!str", "|", ">", "'", "\"", "1", "null", "---", "#", "\t",
        ];
        let parser = |text: &str| {
            drop(Tree::of_json(text.as_bytes()));
            drop(Tree::of_yaml(text.as_bytes()));
        };
        operetta_harness::random::some_texts(4, &TOKENS, parser);
    }
}
