//! Text: parts, search and replacement. Positions count characters.

use crate::cel::value::{Failure, Outcome, Val, error, no_overload};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    if function == "join" {
        return join(args);
    }
    let Some((first, rest)) = args.split_first() else { return no_overload() };
    let text = first.as_text()?;
    match (function, rest) {
        ("contains", [part]) => Ok(Val::Bool(text.contains(part.as_text()?))),
        ("startsWith", [part]) => Ok(Val::Bool(text.starts_with(part.as_text()?))),
        ("endsWith", [part]) => Ok(Val::Bool(text.ends_with(part.as_text()?))),
        ("charAt", [at]) => char_at(text, at.as_int()?),
        ("indexOf", [part]) => index_of(text, part.as_text()?, 0),
        ("indexOf", [part, from]) => index_of(text, part.as_text()?, from.as_int()?),
        ("lastIndexOf", [part]) => last_index_of(text, part.as_text()?, None),
        ("lastIndexOf", [part, from]) => last_index_of(text, part.as_text()?, Some(from.as_int()?)),
        ("lowerAscii", []) => Ok(Val::text(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Val::text(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Val::text(text.trim())),
        ("strings.quote", []) => Ok(Val::text(quote(text))),
        ("substring", [start]) => substring(text, start.as_int()?, None),
        ("substring", [start, end]) => substring(text, start.as_int()?, Some(end.as_int()?)),
        ("replace", [old, new]) => Ok(Val::text(text.replace(old.as_text()?, new.as_text()?))),
        ("replace", [old, new, count]) => {
            let (old, new) = (old.as_text()?, new.as_text()?);
            Ok(Val::text(match usize::try_from(count.as_int()?) {
                Ok(count) => text.replacen(old, new, count),
                Err(_) => text.replace(old, new),
            }))
        }
        ("split", [separator]) => Ok(Val::texts(split(text, separator.as_text()?, -1))),
        ("split", [separator, count]) => {
            Ok(Val::texts(split(text, separator.as_text()?, count.as_int()?)))
        }
        _ => no_overload(),
    }
}

fn join<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let (list, separator) = match args {
        [list] => (list.as_list()?, ""),
        [list, separator] => (list.as_list()?, separator.as_text()?),
        _ => return no_overload(),
    };
    let mut joined = String::new();
    for (at, element) in list.iter().enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        let element = element?;
        match &element {
            Val::String(text) => joined.push_str(text),
            other => return error(format!("join: invalid input: {other}")),
        }
    }
    Ok(Val::text(joined))
}

fn out_of_range<T>(at: i64) -> Result<T, Failure> {
    error(format!("index out of range: {at}"))
}

fn char_at<'a>(text: &str, at: i64) -> Outcome<'a> {
    let Ok(index) = usize::try_from(at) else { return out_of_range(at) };
    match text.chars().nth(index) {
        Some(character) => Ok(Val::text(character.to_string())),
        None if index == text.chars().count() => Ok(Val::text("")),
        None => out_of_range(at),
    }
}

/// The byte where this character begins.
fn byte_of(text: &str, at: usize) -> Option<usize> {
    let mut starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    starts.nth(at)
}

fn position<'a>(text: &str, byte: Option<usize>) -> Val<'a> {
    byte.map_or(Val::Int(-1), |byte| Val::count(text[..byte].chars().count()))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    if part.is_empty() {
        return Ok(Val::Int(from));
    }
    let Ok(index) = usize::try_from(from) else { return out_of_range(from) };
    let start = byte_of(text, index);
    Ok(position(text, start.and_then(|start| Some(start + text[start..].find(part)?))))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Outcome<'a> {
    let count = text.chars().count();
    if part.is_empty() {
        return Ok(from.map_or(Val::count(count), Val::Int));
    }
    let from = match from {
        Some(from) => from,
        None if text.len() < part.len() => return Ok(Val::Int(-1)),
        None => i64::try_from(count).unwrap_or(i64::MAX) - 1,
    };
    let Ok(index) = usize::try_from(from) else { return out_of_range(from) };
    if index >= count {
        return Ok(Val::Int(-1));
    }
    let end = byte_of(text, index + part.chars().count()).unwrap_or(text.len());
    Ok(position(text, text[..end].rfind(part)))
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Outcome<'a> {
    if let Some(end) = end.filter(|end| start > *end) {
        return error(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let byte = |at: i64| usize::try_from(at).ok().and_then(|at| byte_of(text, at));
    let Some(first) = byte(start) else { return out_of_range(start) };
    let last = match end {
        None => text.len(),
        Some(end) => match byte(end) {
            Some(byte) => byte,
            None => return out_of_range(end),
        },
    };
    Ok(Val::text(&text[first..last]))
}

/// The parts between separators; an empty separator splits characters.
fn split(text: &str, separator: &str, count: i64) -> Vec<String> {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    if limit == 0 {
        return Vec::new();
    }
    if !separator.is_empty() {
        return text.splitn(limit, separator).map(str::to_owned).collect();
    }
    let mut parts: Vec<String> = text.chars().map(String::from).collect();
    if parts.len() > limit {
        let rest = parts.split_off(limit - 1).concat();
        parts.push(rest);
    }
    parts
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A key as a step of a path of a JSON patch.
pub(super) fn escape_key<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let [Val::String(key)] = args else { return no_overload() };
    Ok(Val::text(key.replace('~', "~0").replace('/', "~1")))
}
