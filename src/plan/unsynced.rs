//! Objects that may be missing in the caches of child types: their absence is no reason for a deletion.

use std::collections::{BTreeMap, BTreeSet};

use super::ChildId;
use crate::object::K8sType;

/// The child types whose cache may be incomplete, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsynced(BTreeMap<K8sType, Where>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Where {
    Everywhere,
    /// In these namespaces alone.
    In(BTreeSet<String>),
}

impl Unsynced {
    /// A type may be incomplete in these namespaces alone; nothing if there are none.
    pub(crate) fn add_in(&mut self, ty: &K8sType, namespaces: BTreeSet<String>) {
        if !namespaces.is_empty() {
            self.0.insert(ty.clone(), Where::In(namespaces));
        }
    }

    /// Whether nothing is known of a child by its absence.
    pub(crate) fn covers(&self, child: &ChildId) -> bool {
        match self.0.get(&child.ty) {
            None => false,
            Some(Where::Everywhere) => true,
            Some(Where::In(namespaces)) => {
                child.key.namespace.as_deref().is_none_or(|it| namespaces.contains(it))
            }
        }
    }

    /// The types that may be incomplete somewhere.
    pub(crate) fn types(&self) -> BTreeSet<K8sType> {
        self.0.keys().cloned().collect()
    }
}

impl Extend<K8sType> for Unsynced {
    fn extend<I: IntoIterator<Item = K8sType>>(&mut self, types: I) {
        self.0.extend(types.into_iter().map(|ty| (ty, Where::Everywhere)));
    }
}

impl FromIterator<K8sType> for Unsynced {
    fn from_iter<I: IntoIterator<Item = K8sType>>(types: I) -> Self {
        let mut unsynced = Self::default();
        unsynced.extend(types);
        unsynced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectKey;

    #[test]
    fn a_type_that_is_not_listed_in_one_namespace_is_known_in_the_others() {
        let [maps, secrets, pods] =
            [("ConfigMap", "configmaps"), ("Secret", "secrets"), ("Pod", "pods")]
                .map(|(kind, plural)| K8sType::namespaced("v1", kind, plural));
        let mut unsynced: Unsynced = [maps.clone()].into_iter().collect();
        unsynced.add_in(&secrets, BTreeSet::from(["b".to_owned()]));
        unsynced.add_in(&pods, BTreeSet::new());
        let covers = |ty: &K8sType, namespace: &str| {
            let key = ObjectKey::namespaced(namespace, "x");
            unsynced.covers(&ChildId { ty: ty.clone(), key })
        };
        assert_eq!((covers(&maps, "a"), covers(&maps, "b")), (true, true));
        assert_eq!((covers(&secrets, "a"), covers(&secrets, "b")), (false, true));
        assert_eq!((covers(&pods, "a"), covers(&pods, "b")), (false, false));
        assert_eq!(unsynced.types(), BTreeSet::from([maps, secrets]));
    }
}
