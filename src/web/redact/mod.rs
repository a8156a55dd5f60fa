//! Removes secret values from objects, and from texts about them.
//!
//! Secret are: the values of Secrets; the annotation in which `kubectl apply` keeps a copy of the
//! object; the fields that a schema marks with `format: password`, in the object itself and wherever
//! its children quote them. While the marks of a type are unknown, only the names of its objects are
//! shown. Not covered: a marked value that has been replaced since.

use std::collections::HashSet;

use serde_json::Value;

use super::owners::{marks_nothing, owners};
use crate::{
    board::Board,
    object::{K8sType, Object, ObjectKey, REDACTED, SecretValues},
};

/// The secret values of an object and of texts about it.
#[derive(Debug)]
pub(super) struct Secrets {
    /// The marked values of the object and of its owners; `None` if they are unknown.
    values: Option<SecretValues>,
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const UNKNOWN: &str = "(redacted, because the secret fields are unknown)";

/// A longer chain of owners is an error.
const MAX_OWNERS: usize = 32;

/// Metadata that is always shown.
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

/// The object without secret values.
pub(super) fn redacted(board: &Board, object: &Object) -> Value {
    Secrets::of(board, object).hidden_in(board, object.ty(), object.to_value())
}

/// A text about an object or its children, such as an error, a condition or an Event, without secret
/// values.
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
    pub(super) fn of(board: &Board, object: &Object) -> Self {
        Self { values: collected(board, object) }
    }

    /// For an object that is not cached.
    pub(super) fn unknown() -> Self {
        Self { values: None }
    }

    pub(super) fn text(&self, text: &str) -> String {
        let hidden = |values: &SecretValues| values.hidden(text).into_owned();
        self.values.as_ref().map_or_else(|| UNKNOWN.to_owned(), hidden)
    }

    /// A live or desired object of a type without the secret values.
    pub(super) fn hidden_in(&self, board: &Board, ty: &K8sType, mut object: Value) -> Value {
        hide_always_secret(ty, &mut object);
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

fn hide_always_secret(ty: &K8sType, object: &mut Value) {
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

/// Keys are kept: users need them when a pod cannot start.
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

/// Everything in an object except its type and identity.
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
