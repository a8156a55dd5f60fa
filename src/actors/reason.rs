//! What a change of an object is to a parent: how much it matters, and what is said of it. Pure.

use crate::{
    history::{Cause, ChildChange},
    object::{K8sType, Object},
    schedule::Touch,
    store::Change,
};

/// Whether a change of a parent is its own or only one of its status.
pub(super) fn strength(before: Option<&Object>, after: &Object) -> Touch {
    let is_own = before.is_none_or(|before| is_own_change(before, after));
    match (is_own, after.is_deleting()) {
        (true, true) => Touch::Deletion,
        (true, false) => Touch::Parent,
        (false, _) => Touch::Surroundings,
    }
}

fn is_own_change(before: &Object, after: &Object) -> bool {
    before.uid() != after.uid()
        || before.generation() != after.generation()
        || after.generation().is_none()
        || before.is_deleting() != after.is_deleting()
        || ["labels", "annotations", "finalizers"]
            .iter()
            .any(|field| before.metadata_text(field) != after.metadata_text(field))
}

pub(super) fn parent_cause(before: Option<&Object>, now: &Object) -> Cause {
    if now.is_deleting() && before.is_some_and(|before| !before.is_deleting()) {
        return Cause::ParentDeleted;
    }
    let from = before.map(|before| before.resource_version().clone());
    Cause::ParentChanged { from, to: now.resource_version().clone() }
}

pub(super) fn child_cause(ty: &K8sType, change: &Change) -> Cause {
    let version =
        |side: &Option<Object>| side.as_ref().map(|object| object.resource_version().clone());
    Cause::ChildChanged(Box::new(ChildChange {
        ty: ty.clone(),
        key: change.object().key().clone(),
        from: version(&change.before),
        to: version(&change.after),
    }))
}
