//! What to do when a change is refused because a field cannot change: a new object instead, where
//! the child type allows it. Decides; the deletion is carried out with the others.

use super::task::Refused;
use crate::{
    object::Object,
    plan::{Deletion, Write, instead_of_immutable},
    reply::{ApiError, Refusal},
    run::view::View,
};

/// Whether a deletion may follow. One for each desired state: what the server answers the new object with
/// cannot be cured so.
pub(super) fn is_allowed(Refused { write, error }: &Refused, view: &View<'_>) -> bool {
    let config = view.settings.config().child_config(&write.id.ty);
    config.is_some_and(|config| config.recreate_if_immutable)
        && error.refusal().is_some_and(Refusal::is_immutable)
        && view.memory.recreated().get(&write.id) != Some(&write.desired_hash)
}

/// The deletion after which the child can be created as it is desired; `None` where the refusal stands.
pub(super) fn deletion(
    Refused { write, error }: &Refused,
    live: &Object,
    view: &View<'_>,
) -> Option<Deletion> {
    let fields = error.refusal()?.causes.iter().map(|cause| cause.field.clone()).collect();
    let (config, name) = (view.settings.config(), view.settings.name());
    instead_of_immutable(config, name, view.parent, write, live, fields)
}

/// How the refusal of a change could be met, where it is that.
pub(super) fn hint(write: &Write, error: &ApiError, view: &View<'_>) -> &'static str {
    let ty = &write.id.ty;
    let config = view.settings.config().child_config(ty);
    let may = config.is_some_and(|config| config.leaves_immutable(ty));
    if may && error.refusal().is_some_and(Refusal::is_immutable) {
        "; `ChildConfig::recreate_if_immutable` would create it anew"
    } else {
        ""
    }
}
