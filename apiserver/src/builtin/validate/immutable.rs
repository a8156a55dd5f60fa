//! Fields that never change.

use super::{
    field::{Errors, Field},
    shown,
};

/// What the real server says of a changed field.
pub(super) const DETAIL: &str = "field is immutable";

/// Refuses a change of a field. `path` leads to it, as in `spec.selector`.
pub(super) fn field(new: &Field, old: &Field, path: &str, errors: &mut Errors) {
    let (after, before) = (at(new, path), at(old, path));
    if after.value() != before.value() {
        errors.push(after.invalid(DETAIL));
    }
}

/// The same, of a field that Go keeps as a string.
pub(super) fn text(new: &Field, old: &Field, path: &str, errors: &mut Errors) {
    let (after, before) = (at(new, path), at(old, path));
    if after.text() != before.text() {
        errors.push(after.or_empty().invalid(DETAIL));
    }
}

/// The same, by a rule of the type's declaration, which does not show the value.
pub(super) fn declared(new: &Field, old: &Field, path: &str, errors: &mut Errors) {
    let (after, before) = (at(new, path), at(old, path));
    if after.value() != before.value() {
        errors.push(after.invalid_as("null".to_owned(), DETAIL));
    }
}

/// Refuses a change of the selector of a workload.
pub(super) fn selector(new: &Field, old: &Field, errors: &mut Errors) {
    let (after, before) = (at(new, "spec.selector"), at(old, "spec.selector"));
    if after.value() != before.value() {
        let shown = if after.is_given() {
            super::selector::print(after.value())
        } else {
            "null".to_owned()
        };
        errors.push(after.invalid_as(shown, DETAIL));
    }
}

/// Refuses a change of a field that Go prints as a struct.
pub(super) fn structure(new: &Field, old: &Field, path: &str, of: &str, errors: &mut Errors) {
    let (after, before) = (at(new, path), at(old, path));
    if after.value() != before.value() {
        let print = if after.is_given() { shown::go(of, after.value()) } else { "null".to_owned() };
        errors.push(after.invalid_as(print, DETAIL));
    }
}

/// The field that a path leads to.
pub(super) fn at<'a>(object: &Field<'a>, path: &str) -> Field<'a> {
    path.split('.').fold(object.clone(), |field, name| field.child(name))
}
