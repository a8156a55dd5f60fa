//! Merging conditions by their type.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{StatusInput, UndeclaredField};
use crate::operator::{Condition, READY};

pub(super) const FIELD: &str = "conditions";
pub(super) const TIME: &str = "lastTransitionTime";
/// A whole backtrace would be copied with every read of the parent.
const MAX_MESSAGE: usize = 1024;
/// What Kubernetes' own schema of a condition allows.
const MAX_REASON: usize = 1024;

/// Puts the present conditions into `status`, changed by those of the handler (which are in
/// `status`) and of the framework.
pub(super) fn merge(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    status: &mut Map<String, Value>,
    undeclared: &mut Vec<UndeclaredField>,
) {
    if !input.schema.admits_list(FIELD) {
        let own = UndeclaredField::own(FIELD);
        let is_returned = undeclared.iter().any(|field| field.path == own.path);
        if !input.conditions.is_empty() && !is_returned {
            undeclared.push(own);
        }
        return;
    }
    let handler = match status.remove(FIELD) {
        Some(Value::Array(conditions)) => conditions,
        // A field of this name that is no list is the handler's.
        Some(other) => return drop(status.insert(FIELD.to_owned(), other)),
        None => Vec::new(),
    };
    let merged = merged(input, present.get(FIELD), handler);
    if !merged.is_empty() || present.contains_key(FIELD) {
        status.insert(FIELD.to_owned(), Value::from(merged));
    }
}

/// Whether the handler returned a condition of its own with a type of the framework, rather than
/// one that it read.
pub(super) fn overruled(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    fields: &Map<String, Value>,
) -> bool {
    let (theirs, present) = (listed(fields.get(FIELD)), listed(present.get(FIELD)));
    let is_own = |theirs: &Value| {
        let names = input.names;
        let is_valid_ready =
            || names.is(type_of(theirs), READY) && Condition::deserialize(theirs).is_ok();
        let is_ours = names.is_framework(type_of(theirs)) && !is_valid_ready();
        is_ours && !present.iter().any(|read| is_echo(theirs, read))
    };
    input.shared.is_none() && returned(input, theirs.to_vec()).iter().any(is_own)
}

fn listed(conditions: Option<&Value>) -> &[Value] {
    conditions.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a condition of the handler is one that it read.
fn is_echo(theirs: &Value, read: &Value) -> bool {
    type_of(read) == type_of(theirs) && read.get("reason") == theirs.get("reason")
}

fn merged(input: StatusInput<'_>, present: Option<&Value>, handler: Vec<Value>) -> Vec<Value> {
    let present = listed(present);
    let is_cleared = |condition: &Value| input.cleared.iter().any(|ty| ty == type_of(condition));
    let is_kept =
        |condition: &&Value| !is_cleared(condition) && !is_former(input, type_of(condition));
    let mut merged: Vec<Value> = present.iter().filter(is_kept).cloned().collect();
    let own = input.conditions.iter().map(|condition| own(input, condition));
    // Otherwise a handler that returns what it read would keep ours for ever.
    let is_stale = |theirs: &Value| {
        let is_read = present.iter().any(|read| is_echo(theirs, read));
        is_cleared(theirs) && is_read
    };
    // Without a `Ready` of the framework that of the handler holds.
    let names = input.names;
    let sets_ready = input.conditions.iter().any(|condition| names.is(&condition.ty, READY));
    let is_ours = |ty: &str| names.is_framework(ty) && (!names.is(ty, READY) || sets_ready);
    let handler =
        returned(input, handler).into_iter().filter(|it| !is_ours(type_of(it)) && !is_stale(it));
    for condition in handler.chain(own) {
        let before = present.iter().find(|other| type_of(other) == type_of(&condition));
        let condition = dated(input, condition, before);
        match merged.iter_mut().find(|other| type_of(other) == type_of(&condition)) {
            Some(other) => *other = condition,
            None => merged.push(condition),
        }
    }
    merged
}

/// The conditions of the handler with the types by which they are written, without those of other
/// operators that it read.
fn returned(input: StatusInput<'_>, conditions: Vec<Value>) -> Vec<Value> {
    let named = |mut condition: Value| {
        let ty = condition["type"].as_str()?;
        let written = input.names.returned(ty)?;
        if written != ty {
            condition["type"] = written.into();
        }
        Some(condition)
    };
    if input.names.is_prefixed() {
        conditions.into_iter().filter_map(named).collect()
    } else {
        conditions
    }
}

/// Whether we wrote a condition under another type, before the parent had several operators or
/// while it had.
fn is_former(input: StatusInput<'_>, ty: &str) -> bool {
    let is_ours = || input.beside.is_some_and(|beside| beside.owns_condition(ty));
    input.names.is_former(ty) && (!input.names.is_prefixed() || is_ours())
}

fn type_of(condition: &Value) -> &str {
    condition["type"].as_str().unwrap_or_default()
}

fn own(input: StatusInput<'_>, condition: &Condition) -> Value {
    let mut value = json!({
        "type": condition.ty,
        "status": condition.status.as_str(),
        "reason": reason(&condition.reason),
        "message": cut(&condition.message, MAX_MESSAGE),
    });
    // A user cannot fix fields of ours that the schema lacks.
    let _ = input.schema.prune_item(FIELD, &mut value, "");
    value
}

/// Sets the times and generations, whoever set the condition.
fn dated(input: StatusInput<'_>, mut condition: Value, before: Option<&Value>) -> Value {
    let Some(fields) = condition.as_object_mut() else { return condition };
    fields.remove(TIME);
    if have_times(input) {
        let kept = before.filter(|before| before.get("status") == fields.get("status"));
        let time = kept.and_then(|before| before.get(TIME)).cloned();
        let time = time.unwrap_or_else(|| Value::from(input.now));
        fields.insert(TIME.to_owned(), time);
    }
    if declares(input, "observedGeneration") {
        let generation = input.parent.generation().filter(|_| input.observed_generation);
        let kept = || before?.get("observedGeneration").cloned();
        if let Some(generation) = generation.map(Value::from).or_else(kept) {
            fields.insert("observedGeneration".to_owned(), generation);
        }
    }
    condition
}

/// Whether a condition may have a time.
pub(super) fn have_times(input: StatusInput<'_>) -> bool {
    let is_open = input.schema.declared().is_none() || !declares(input, "type");
    is_open || declares(input, TIME)
}

fn declares(input: StatusInput<'_>, name: &str) -> bool {
    input.schema.declares(&[FIELD, "*", name])
}

/// A reason is one word that begins with a letter.
fn reason(text: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let word: String = text.chars().filter(|c| is_inner(*c)).take(MAX_REASON).collect();
    let word = word.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let word = word.trim_end_matches([',', ':']);
    if word.is_empty() { "Unknown".to_owned() } else { word.to_owned() }
}

/// At most `max` bytes, with an ellipsis where something is missing.
pub(super) fn cut(text: &str, max: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max - ELLIPSIS.len());
    format!("{}{ELLIPSIS}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_word() {
        for (text, word) in [
            ("AllReady", "AllReady"),
            ("not ready yet", "notreadyyet"),
            ("9Lives:", "Lives"),
            ("", "Unknown"),
            ("ä", "Unknown"),
        ] {
            assert_eq!(reason(text), word);
        }
    }

    #[test]
    fn a_message_is_cut_at_a_character() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut(&"ä".repeat(10), 10), "äää…");
        assert_eq!(cut(&"ä".repeat(600), MAX_MESSAGE).len(), 1023);
    }
}
