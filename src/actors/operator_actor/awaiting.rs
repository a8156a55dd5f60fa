//! Which parents wait for objects that are not theirs: an index from the object, so that each event costs one
//! look-up, and none while nobody waits.

use std::collections::{HashMap, HashSet};

use crate::{
    object::{K8sType, ObjectKey, Uid},
    plan::ChildId,
};

#[derive(Debug, Default)]
pub(super) struct Awaiting {
    by_object: HashMap<ChildId, HashSet<Uid>>,
    by_parent: HashMap<Uid, Vec<ChildId>>,
}

impl Awaiting {
    pub(super) fn set(&mut self, parent: &Uid, objects: Vec<ChildId>) {
        for object in self.by_parent.remove(parent).unwrap_or_default() {
            if let Some(parents) = self.by_object.get_mut(&object) {
                parents.remove(parent);
                if parents.is_empty() {
                    self.by_object.remove(&object);
                }
            }
        }
        for object in &objects {
            self.by_object.entry(object.clone()).or_default().insert(parent.clone());
        }
        if !objects.is_empty() {
            self.by_parent.insert(parent.clone(), objects);
        }
    }

    pub(super) fn parents(&self, ty: &K8sType, key: &ObjectKey) -> impl Iterator<Item = &Uid> {
        let id = || ChildId { ty: ty.clone(), key: key.clone() };
        let waiting = (!self.by_object.is_empty()).then(|| self.by_object.get(&id())).flatten();
        waiting.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_wakes_those_who_wait_for_it_until_they_wait_for_others() {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let id = |name: &str| ChildId { ty: ty.clone(), key: ObjectKey::namespaced("ns", name) };
        let mut awaiting = Awaiting::default();
        let (first, second) = (Uid::new("first"), Uid::new("second"));
        awaiting.set(&first, vec![id("a"), id("b")]);
        awaiting.set(&second, vec![id("a")]);
        let waiting = |awaiting: &Awaiting, name: &str| {
            let mut parents: Vec<_> = awaiting.parents(&ty, &id(name).key).cloned().collect();
            parents.sort();
            parents
        };
        assert_eq!(waiting(&awaiting, "a"), [first.clone(), second.clone()]);
        awaiting.set(&first, vec![id("b")]);
        assert_eq!(waiting(&awaiting, "a"), std::slice::from_ref(&second));
        assert_eq!(waiting(&awaiting, "b"), std::slice::from_ref(&first));
        awaiting.set(&first, vec![]);
        awaiting.set(&second, vec![]);
        assert!(awaiting.by_object.is_empty() && awaiting.by_parent.is_empty());
    }
}
