//! Objects that are scaled, or measured.

use super::field::{Errors, Field};
use crate::schema::name_rule;

/// Whether an object may be of the core group, whose name is empty.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Group {
    Named,
    Any,
}

/// The object that is scaled, or measured.
pub(super) fn target(reference: &Field, group: Group, errors: &mut Errors) {
    for name in ["kind", "name"] {
        let field = reference.string(name);
        field.is_required("", errors);
        field.follows_unless_empty(name_rule::path_segment, errors);
    }
    let version = reference.string("apiVersion");
    let text = version.text();
    match text.matches('/').count() {
        0 | 1 => {
            let is_named = !text.starts_with('/') && text.contains('/');
            if group == Group::Named && !is_named {
                errors.push(version.invalid("apiVersion must specify API group"));
            }
        }
        _ => {
            let detail = format!("unexpected GroupVersion string: {text}");
            errors.push(version.invalid(detail));
        }
    }
}
