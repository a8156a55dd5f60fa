//! The objects that made the last reconcile of a parent fail: refused children, and objects of other owners with the
//! name of a child. A change of such an object ends the wait for the retry, unless only its status changed.

use super::reason::{child_trigger, is_of_status_only};
use crate::{
    object::K8sType,
    plan::{ChildId, ForeignChild},
    schedule::Trigger,
    store::Change,
};

/// So many of them are kept for a parent: where more are refused, one of these changes with the rest.
const MOST: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Awaited {
    objects: Box<[ChildId]>,
    /// The objects that have changed since the reconcile began. Its end reports which of them it awaits.
    meanwhile: Vec<ChildId>,
}

impl Awaited {
    pub(super) fn begin(&mut self) {
        self.meanwhile = Vec::new();
    }

    /// The reconcile has ended, and failed because of these. Returns whether one has changed since it began.
    pub(super) fn end(&mut self, refused: &[ChildId], foreign: &[ForeignChild]) -> bool {
        let foreign = foreign.iter().map(|it| it.id.clone());
        self.objects = foreign.chain(refused.iter().cloned()).take(MOST).collect();
        std::mem::take(&mut self.meanwhile).iter().any(|changed| self.objects.contains(changed))
    }

    /// How much a change of an object matters.
    pub(super) fn trigger(&mut self, ty: &K8sType, change: &Change, is_running: bool) -> Trigger {
        let id = || ChildId { ty: ty.clone(), key: change.object().key().clone() };
        let trigger = child_trigger(change);
        if is_running {
            if self.meanwhile.len() < MOST && !is_of_status_only(change) {
                self.meanwhile.push(id());
            }
            return trigger;
        }
        let is_awaited = !self.objects.is_empty() && self.objects.contains(&id());
        if is_awaited && !is_of_status_only(change) { Trigger::Awaited } else { trigger }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{KeptManagers, Object, ObjectKey};

    fn pods() -> K8sType {
        K8sType::namespaced("v1", "Pod", "pods")
    }

    fn id(name: &str) -> ChildId {
        ChildId { ty: pods(), key: ObjectKey::namespaced("ns", name) }
    }

    fn change(name: &str, image: &str, phase: &str) -> Change {
        let pod = |version: &str, image: &str, phase: &str| {
            let metadata = json!({
                "name": name, "namespace": "ns", "uid": "u", "resourceVersion": version,
            });
            let value = json!({
                "metadata": metadata, "spec": {"image": image}, "status": {"phase": phase},
            });
            Object::from_value(&pods(), &value, &KeptManagers::default()).unwrap()
        };
        let (before, after) = (Some(pod("1", "a", "Pending")), Some(pod("2", image, phase)));
        Change { before, after, parents: <_>::default() }
    }

    #[test]
    fn only_a_change_of_an_awaited_object_beyond_its_status_ends_the_wait() {
        let mut awaited = Awaited::default();
        assert!(!awaited.end(&[id("c")], &[]));
        for (change, expected) in [
            (change("c", "b", "Pending"), Trigger::Awaited),
            (change("c", "a", "Running"), Trigger::ChildOrStatus),
            (change("d", "b", "Pending"), Trigger::ChildOrStatus),
        ] {
            assert_eq!(awaited.trigger(&pods(), &change, false), expected, "{change:?}");
        }
    }

    #[test]
    fn what_changes_during_a_reconcile_counts_when_that_fails_because_of_it() {
        for (change, expected) in [
            (change("c", "b", "Pending"), true),
            (change("c", "a", "Running"), false),
            (change("d", "b", "Pending"), false),
        ] {
            let mut awaited = Awaited::default();
            awaited.begin();
            assert_eq!(awaited.trigger(&pods(), &change, true), Trigger::ChildOrStatus);
            assert_eq!(awaited.end(&[id("c")], &[]), expected, "{change:?}");
            assert!(!awaited.end(&[id("c")], &[]), "it counts once");
        }
    }
}
