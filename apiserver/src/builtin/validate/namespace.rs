//! Namespaces: what holds them until they are empty.

use super::field::{Errors, Field};
use crate::schema::name_rule;

/// The finalizers without a domain that there are.
const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// The finalizers of the specification; all are reported at the list.
pub(super) fn finalizers(namespace: &Field, errors: &mut Errors) {
    let list = namespace.child("spec").child("finalizers");
    for finalizer in list.items() {
        let finalizer = finalizer.named(list.at().clone());
        let text = finalizer.text();
        errors.extend(name_rule::label_key(text).into_iter().map(|d| finalizer.invalid(d)));
        if !text.contains('/') && !STANDARD.contains(&text) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(finalizer.invalid(detail));
        }
    }
}
