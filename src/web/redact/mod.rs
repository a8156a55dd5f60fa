//! What must not be read by everybody who reaches the port is taken out of objects, and of what is
//! said about them.
//!
//! Known here: the values of Secrets; the annotation in which `kubectl apply` keeps a copy of the whole
//! object; what the schema of a type marks by `format: password`, in an object itself and wherever it
//! is quoted in what belongs to the object. Where it is not known what is marked, only the name of an
//! object is shown. Not known: a value that was marked and has been replaced since.

use std::collections::HashSet;

use serde_json::Value;

use super::owners::{marks_nothing, owners};
use crate::{
    board::Board,
    object::{K8sType, Object, ObjectKey, REDACTED, SecretValues},
};

/// What is secret in an object, and in what is said of it.
#[derive(Debug)]
pub(super) struct Secrets {
    /// The marked values of the object and of all that it belongs to; `None` when they are not known.
    values: Option<SecretValues>,
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const UNKNOWN: &str = "(redacted, as it is not known what is secret)";

/// More owners of owners are a mistake.
const MAX_OWNERS: usize = 32;

/// What names an object is shown elsewhere, too.
const NAMES: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "ownerReferences",
    "managedFields",
];

/// The object as it may be shown.
pub(super) fn redacted(board: &Board, object: &Object) -> Value {
    Secrets::of(board, object).hidden_in(board, object.ty(), object.to_value())
}

/// A text about an object as it may be shown: what an error, a condition or an Event says of it, or of
/// what belongs to it.
pub(super) fn text(board: &Board, about: &Object, text: &str) -> String {
    Secrets::of(board, about).text(text)
}

/// The same about an object that may not be cached.
pub(super) fn text_about(board: &Board, ty: &K8sType, key: &ObjectKey, text: &str) -> String {
    let Some(cache) = board.type_state(ty) else { return UNKNOWN.to_owned() };
    match cache.store.get(key) {
        Some(object) => self::text(board, &object, text),
        None if marks_nothing(&cache) => text.to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

impl Secrets {
    /// What is secret of an object.
    pub(super) fn of(board: &Board, object: &Object) -> Self {
        Self { values: collected(board, object) }
    }

    /// Of an object that cannot be looked at.
    pub(super) fn unknown() -> Self {
        Self { values: None }
    }

    /// A text without them.
    pub(super) fn text(&self, text: &str) -> String {
        let hidden = |values: &SecretValues| values.hidden(text).into_owned();
        self.values.as_ref().map_or_else(|| UNKNOWN.to_owned(), hidden)
    }

    /// An object of a type without them, or one that is desired.
    pub(super) fn hidden_in(&self, board: &Board, ty: &K8sType, mut object: Value) -> Value {
        hide_what_is_always_secret(ty, &mut object);
        let marked = board.type_state(ty).and_then(|cache| cache.secrets());
        let (Some(values), Some(marked)) = (&self.values, marked) else {
            hide_content(&mut object);
            return object;
        };
        marked.hide(&mut object, REDACTED);
        for_each_content(&mut object, |content| values.hide_in(content));
        object
    }
}

/// The marked values of an object and of its owners.
fn collected(board: &Board, object: &Object) -> Option<SecretValues> {
    let mut values = SecretValues::default();
    if board.types().iter().all(marks_nothing) {
        return Some(values);
    }
    let (mut seen, mut next) = (HashSet::new(), vec![object.clone()]);
    while let Some(object) = next.pop() {
        if !seen.insert(object.uid().clone()) {
            continue;
        }
        if seen.len() > MAX_OWNERS {
            return None;
        }
        let marked = board.type_state(object.ty())?.secrets()?;
        if !marked.is_empty() {
            marked.collect_values(object.to_value(), &mut values);
        }
        next.extend(owners(board, &object)?);
    }
    Some(values)
}

fn hide_what_is_always_secret(ty: &K8sType, object: &mut Value) {
    let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotation) = annotations.and_then(|map| map.get_mut(LAST_APPLIED)) {
        *annotation = REDACTED.into();
    }
    if ty.is("v1", "Secret") {
        for field in ["data", "stringData"] {
            if let Some(secret) = object.get_mut(field) {
                hide_values(secret);
            }
        }
    }
}

/// Keys stay: which entries a Secret has is what one looks for when a pod cannot start.
fn hide_values(secret: &mut Value) {
    match secret.as_object_mut() {
        Some(entries) => entries.values_mut().for_each(|value| *value = REDACTED.into()),
        None => *secret = REDACTED.into(),
    }
}

fn hide_content(object: &mut Value) {
    if !object.is_object() {
        *object = UNKNOWN.into();
    }
    for_each_content(object, |content| *content = UNKNOWN.into());
}

/// Everything in an object but its type and what names it.
fn for_each_content(object: &mut Value, mut change: impl FnMut(&mut Value)) {
    for (name, field) in object.as_object_mut().into_iter().flatten() {
        match (name.as_str(), field) {
            ("apiVersion" | "kind", _) => {}
            ("metadata", Value::Object(metadata)) => {
                let content =
                    metadata.iter_mut().filter(|(name, _)| !NAMES.contains(&name.as_str()));
                content.for_each(|(_, field)| change(field));
            }
            (_, field) => change(field),
        }
    }
}

#[cfg(test)]
mod tests;
