//! Controller revisions: what a template once was.

use super::{
    field::{Errors, Field},
    immutable,
};
use crate::schema::FieldError;

/// A new revision has data, which are a JSON object.
pub(super) fn create(revision: &Field, errors: &mut Errors) {
    revision.integer("revision").is_not_negative(errors);
    let data = revision.child("data");
    if !data.is_given() {
        errors.push(data.required("data is mandatory"));
    } else if !data.value().is_object() {
        errors.push(data.required("data must be a valid JSON object"));
    }
}

/// The data never change.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    new.integer("revision").is_not_negative(errors);
    let data = new.child("data");
    if data.value() != old.child("data").value() {
        let error: FieldError = data.invalid(immutable::DETAIL);
        errors.push(error);
    }
}
