//! Conditions of the common form.

use std::collections::BTreeSet;

use super::super::field::{Errors, Field};

/// A list of conditions, one of each type.
pub(super) fn all(list: &Field, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for condition in list.items() {
        let ty = condition.string("type");
        if !known.insert(ty.text()) {
            errors.push(ty.named(condition.at().clone()).duplicate());
        }
        ty.is_qualified(errors);
        condition.string("status").is_one_of(&["False", "True", "Unknown"], errors);
        let generation = condition.integer("observedGeneration");
        if generation.number() < 0 {
            errors.push(generation.invalid("must be greater than or equal to zero"));
        }
        condition.child("lastTransitionTime").is_required("", errors);
        reason(&condition.string("reason"), errors);
        if condition.string("message").text().len() > 32 << 10 {
            errors.push(condition.child("message").too_long(32 << 10));
        }
    }
}

fn reason(reason: &Field, errors: &mut Errors) {
    reason.is_required("", errors);
    let text = reason.text();
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':');
    let is_right = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(inner);
    if !text.is_empty() && !is_right {
        let detail = "a condition reason must start with alphabetic character, optionally \
                      followed by a string of alphanumeric characters or '_,:', and must end with \
                      an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
                      'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for \
                      validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
        errors.push(reason.invalid(detail));
    }
    if text.len() > 1 << 10 {
        errors.push(reason.too_long(1 << 10));
    }
}
