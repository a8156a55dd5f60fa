//! Removes secret values from objects, and from texts about them.
//!
//! Secret are: the values of Secrets, also within other objects, and wherever a Secret itself quotes them; all annotations
//! of Secrets, which may have copies of earlier values; the annotation in which `kubectl apply` keeps a copy of the
//! object; the fields that a schema marks with `format: password`, in the object itself, in copies of it and wherever
//! its children quote them. While the marks of a type are unknown, only the names of its objects are
//! shown. Not covered: a marked value that has been replaced since.

use std::collections::HashSet;

use serde_json::Value;

use super::owners::{marks_nothing, owners};
use crate::{
    board::Board,
    object::{
        K8sType, Object, ObjectKey, REDACTED, SecretFields, SecretValues, hide_secret, hide_secrets,
    },
};

/// The secret values of an object and of texts about it.
#[derive(Debug)]
pub(super) struct Secrets {
    /// The marked values of the object and of its owners; `None` if they are unknown.
    values: Option<SecretValues>,
    /// Those of the Secrets that belong to the same owners. Texts may quote them; objects have names that are the same.
    quoted: SecretValues,
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
        Self { values: collected(board, object), quoted: quoted(board, object) }
    }

    /// For an object that is not cached.
    pub(super) fn unknown() -> Self {
        Self { values: None, quoted: SecretValues::default() }
    }

    pub(super) fn text(&self, text: &str) -> String {
        let hidden = |values: &SecretValues| self.quoted.hidden(&values.hidden(text)).into_owned();
        self.values.as_ref().map_or_else(|| UNKNOWN.to_owned(), hidden)
    }

    /// The path of a field. Names of fields stay, and so do values of Secrets that are the same.
    pub(super) fn path(&self, path: &str) -> String {
        let hidden = |values: &SecretValues| values.hidden(path).into_owned();
        self.values.as_ref().map_or_else(|| UNKNOWN.to_owned(), hidden)
    }

    /// A live or desired object of a type without the secret values.
    pub(super) fn hidden_in(&self, board: &Board, ty: &K8sType, mut object: Value) -> Value {
        let mut own = SecretValues::default();
        if is_secret(ty) {
            own.add_secret(&object);
        }
        hide_always_secret(ty, &mut object);
        let marked = board.type_state(ty).and_then(|cache| cache.secrets());
        let (Some(values), Some(marked)) = (&self.values, marked) else {
            hide_content(&mut object);
            return object;
        };
        hide_copies(&marked, &mut object);
        marked.hide(&mut object, REDACTED);
        for_each_content(&mut object, |content| {
            values.hide_in(content);
            own.hide_in(content);
        });
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

/// The values of the Secrets among an object, its owners and their children.
fn quoted(board: &Board, object: &Object) -> SecretValues {
    let mut values = SecretValues::default();
    let Some(secrets) = board.types().into_iter().find(|cache| is_secret(cache.store.ty())) else {
        return values;
    };
    let (mut seen, mut next) = (HashSet::new(), vec![object.clone()]);
    while let Some(object) = next.pop().filter(|_| seen.len() <= MAX_OWNERS) {
        if seen.insert(object.uid().clone()) {
            next.extend(owners(board, &object).unwrap_or_default());
            let found = secrets.store.of_parent(object.uid()).into_iter().chain([object]);
            found.filter(|it| is_secret(it.ty())).for_each(|it| values.add_secret(&it.to_value()));
        }
    }
    values
}

fn hide_always_secret(ty: &K8sType, object: &mut Value) {
    let is_secret = is_secret(ty);
    for (name, annotation) in annotations(object) {
        if is_secret || name == LAST_APPLIED {
            *annotation = REDACTED.into();
        }
    }
    if is_secret {
        hide_secret(object);
    }
    hide_secrets(object);
}

fn is_secret(ty: &K8sType) -> bool {
    ty.is("v1", "Secret")
}

/// Hides the annotations with a copy of the object, perhaps of an earlier version of it, that has marked values.
fn hide_copies(marked: &SecretFields, object: &mut Value) {
    for (_, annotation) in annotations(object) {
        let text = annotation.as_str().filter(|text| text.trim_start().starts_with('{'));
        let copy = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(copy) = copy else { continue };
        let mut shown = copy.clone();
        marked.hide(&mut shown, REDACTED);
        if shown != copy {
            *annotation = REDACTED.into();
        }
    }
}

fn annotations(object: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    annotations.into_iter().flatten()
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
