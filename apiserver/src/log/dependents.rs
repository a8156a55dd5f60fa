//! Which objects name an owner, by its uid.

use std::{cmp::Ordering, collections::BTreeSet, sync::Arc};

use super::{ObjectKey, object::OwnerReference};
use crate::group_resource::GroupResource;

/// The objects that name owners.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependents(BTreeSet<Dependent>);

/// An object that names an owner.
#[derive(Debug, Clone)]
struct Dependent {
    /// Its uid is what counts.
    owner: Arc<OwnerReference>,
    resource: Arc<GroupResource>,
    key: ObjectKey,
}

impl Dependents {
    /// The objects that name this uid.
    pub(super) fn of(&self, uid: &str) -> impl Iterator<Item = (Arc<GroupResource>, ObjectKey)> {
        self.all(uid).map(|it| (Arc::clone(&it.resource), it.key.clone()))
    }

    /// The same reference, in the memory of another dependent.
    pub(super) fn share(&self, owner: Arc<OwnerReference>) -> Arc<OwnerReference> {
        let other = self.all(&owner.uid).next().filter(|it| it.owner == owner);
        other.map_or(owner, |it| Arc::clone(&it.owner))
    }

    /// An object names other owners than before.
    pub(super) fn change(
        &mut self,
        (resource, key): (&Arc<GroupResource>, &ObjectKey),
        before: &[Arc<OwnerReference>],
        after: &[Arc<OwnerReference>],
    ) {
        let dependent = |owner: &Arc<OwnerReference>| Dependent {
            owner: Arc::clone(owner),
            resource: Arc::clone(resource),
            key: key.clone(),
        };
        for owner in before.iter().filter(|owner| !names(after, owner)) {
            self.0.remove(&dependent(owner));
        }
        self.0.extend(after.iter().filter(|owner| !names(before, owner)).map(dependent));
    }

    fn all(&self, uid: &str) -> impl Iterator<Item = &Dependent> {
        let first = Dependent {
            owner: Arc::new(OwnerReference { uid: uid.into(), ..OwnerReference::default() }),
            resource: Arc::new(GroupResource::new("", "")),
            key: ObjectKey::new("", ""),
        };
        let uid = Arc::clone(&first.owner);
        self.0.range(first..).take_while(move |it| it.owner.uid == uid.uid)
    }
}

impl Dependent {
    fn order(&self) -> (&str, &GroupResource, &ObjectKey) {
        (&self.owner.uid, &self.resource, &self.key)
    }
}

fn names(owners: &[Arc<OwnerReference>], owner: &OwnerReference) -> bool {
    owners.iter().any(|it| it.uid == owner.uid)
}

impl PartialEq for Dependent {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Dependent {}

impl PartialOrd for Dependent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dependent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(uids: &[&str]) -> Vec<Arc<OwnerReference>> {
        let owner = |uid: &&str| OwnerReference { uid: (*uid).into(), ..OwnerReference::default() };
        uids.iter().map(|uid| Arc::new(owner(uid))).collect()
    }

    #[test]
    fn they_follow_what_objects_name() {
        let (mut dependents, pods) =
            (Dependents::default(), Arc::new(GroupResource::new("", "pods")));
        let mut change = |name: &str, before: &[&str], after: &[&str]| {
            let key = ObjectKey::new("ns", name);
            dependents.change((&pods, &key), &owners(before), &owners(after));
            ["a", "b", "c"].map(|uid| {
                let names = dependents.of(uid).map(|(_, key)| key.name.to_string());
                names.collect::<Vec<_>>().concat()
            })
        };
        assert_eq!(change("x", &[], &["a", "b", "a"]), ["x", "x", ""]);
        assert_eq!(change("y", &[], &["b"]), ["x", "xy", ""]);
        assert_eq!(change("x", &["a", "b"], &["b", "c"]), ["", "xy", "x"]);
        assert_eq!(change("x", &["b", "c"], &[]), ["", "y", ""]);
    }

    #[test]
    fn equal_references_share_their_memory() {
        let (mut dependents, pods) =
            (Dependents::default(), Arc::new(GroupResource::new("", "pods")));
        let [first, second] = [owners(&["a"]), owners(&["a"])];
        dependents.change((&pods, &ObjectKey::new("ns", "x")), &[], &first);
        assert!(Arc::ptr_eq(&dependents.share(Arc::clone(&second[0])), &first[0]));
        let other = OwnerReference { block_owner_deletion: true, ..(*first[0]).clone() };
        assert!(dependents.share(Arc::new(other)).block_owner_deletion);
    }
}
