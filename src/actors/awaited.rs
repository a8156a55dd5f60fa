//! The objects because of which the last reconcile of a parent failed: children that the server refused, and objects
//! of others with the name of a child. A change of one of them ends the wait for the retry.

use super::reason::{child_trigger, is_of_status_only};
use crate::{
    history::Cause,
    object::{K8sType, ObjectKey},
    plan::{ChildId, ForeignChild},
    schedule::Trigger,
    store::Change,
};

/// So many of them are kept for a parent: where more are refused, one of these changes with the rest.
const MOST: usize = 100;

/// What a parent awaits a change of.
#[derive(Debug, Default)]
pub(super) struct Awaited(Box<[ChildId]>);

impl Awaited {
    pub(super) fn new<'f>(
        refused: &[ChildId],
        foreign: impl Iterator<Item = &'f ForeignChild>,
    ) -> Self {
        let foreign = foreign.map(|it| it.id.clone());
        Self(foreign.chain(refused.iter().cloned()).take(MOST).collect())
    }

    /// How much a change of an object matters.
    pub(super) fn trigger(&self, ty: &K8sType, change: &Change) -> Trigger {
        let is_awaited = self.includes(ty, change.object().key());
        if is_awaited && !is_of_status_only(change) {
            Trigger::Awaited
        } else {
            child_trigger(change)
        }
    }

    /// Whether one of these facts, which arrived during the reconcile, is about one of the objects.
    pub(super) fn has_changed<'c>(&self, mut facts: impl Iterator<Item = &'c Cause>) -> bool {
        facts.any(|cause| match cause {
            Cause::ChildChanged(change) => self.includes(&change.ty, &change.key),
            _ => false,
        })
    }

    fn includes(&self, ty: &K8sType, key: &ObjectKey) -> bool {
        self.0.iter().any(|id| id.ty == *ty && id.key == *key)
    }
}
