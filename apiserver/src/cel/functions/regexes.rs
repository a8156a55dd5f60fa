//! Regular expressions, in the syntax of Go.

use std::{cell::RefCell, collections::HashMap};

use regex::Regex;

use crate::{
    cel::value::{Failure, Outcome, Val, error, no_overload},
    schema,
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("matches", [text, pattern]) => {
            let pattern = compile(pattern.as_text()?, "")?;
            Ok(Val::Bool(pattern.is_match(text.as_text()?)))
        }
        ("find", [text, pattern]) => {
            let pattern = compile(pattern.as_text()?, "Illegal regex: ")?;
            let found = pattern.find(text.as_text()?);
            Ok(Val::text(found.map_or("", |found| found.as_str())))
        }
        ("findAll", [text, pattern]) => find_all(text, pattern, -1),
        ("findAll", [text, pattern, limit]) => find_all(text, pattern, limit.as_int()?),
        _ => no_overload(),
    }
}

/// Whether a pattern is one, and otherwise why not.
pub(in crate::cel) fn parse(pattern: &str) -> Result<(), String> {
    schema::compile_pattern(pattern).map(|_| ())
}

const MOST_REMEMBERED: usize = 64;

thread_local! {
    /// A rule in a loop asks for the same pattern again and again.
    static REMEMBERED: RefCell<HashMap<String, Regex>> = RefCell::default();
}

fn compile(pattern: &str, prefix: &str) -> Result<Regex, Failure> {
    REMEMBERED.with_borrow_mut(|remembered| {
        if let Some(regex) = remembered.get(pattern) {
            return Ok(regex.clone());
        }
        let regex = schema::compile_pattern(pattern)
            .or_else(|reason| error(format!("{prefix}error parsing regexp: {reason}")))?;
        if remembered.len() >= MOST_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    })
}

fn find_all<'a>(text: &Val<'a>, pattern: &Val<'a>, limit: i64) -> Outcome<'a> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let pattern = compile(pattern.as_text()?, "Illegal regex: ")?;
    let found = pattern.find_iter(text.as_text()?).take(limit);
    Ok(Val::texts(found.map(|found| found.as_str().to_owned())))
}
