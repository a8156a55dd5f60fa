//! Handles a change of an immutable field: recreates the child where the child type allows it. Decides only;
//! the deletion is carried out with the others.

use super::task::Refused;
use crate::{
    object::Object,
    plan::{Deletion, Write, instead_of_immutable},
    reply::{ApiError, Refusal},
    run::view::View,
};

/// Whether the child may be deleted. Only once for each desired state: if the new object is refused as well,
/// deleting does not help.
pub(super) fn is_allowed(Refused { write, error }: &Refused, view: &View<'_>) -> bool {
    write.config.recreate_if_immutable
        && error.refusal().is_some_and(Refusal::is_immutable)
        && view.memory.recreated().get(&write.id) != Some(&write.desired_hash)
}

/// The deletion that makes room for the new object; `None` if the refusal stands.
pub(super) fn deletion(
    Refused { write, error }: &Refused,
    live: &Object,
    view: &View<'_>,
) -> Option<Deletion> {
    let fields = error.refusal()?.causes.iter().map(|cause| cause.field.clone()).collect();
    let (config, name) = (view.settings.config(), view.settings.name());
    instead_of_immutable(config, name, view.parent, write, live, fields)
}

/// What to do about a refused immutable field; empty for other errors.
pub(super) fn hint(write: &Write, error: &ApiError) -> &'static str {
    if write.config.leaves_immutable(&write.id.ty)
        && error.refusal().is_some_and(Refusal::is_immutable)
    {
        "; set `ChildConfig::recreate_if_immutable` to recreate the child"
    } else {
        ""
    }
}
