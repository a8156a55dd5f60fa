//! Which resources are served at this moment.
//!
//! Readers take a snapshot; only the CRD module replaces it.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::watch;

use super::Resource;
use crate::group_resource::GroupResource;

/// The resources served, replaceable as a whole.
#[derive(Debug)]
pub(crate) struct Registry {
    current: RwLock<Arc<Resources>>,
    changes: watch::Sender<u64>,
}

/// A snapshot of the resources served.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resources {
    built_in: Vec<Arc<Resource>>,
    /// By the name of the definition, so that groups come out sorted and definitions replaceable.
    custom: BTreeMap<String, Vec<Arc<Resource>>>,
}

impl Registry {
    /// A registry that serves the built-in types.
    pub(crate) fn new(built_in: Vec<Resource>) -> Self {
        let built_in = built_in.into_iter().map(Arc::new).collect();
        let resources = Resources { built_in, custom: BTreeMap::new() };
        Self { current: RwLock::new(Arc::new(resources)), changes: watch::Sender::new(0) }
    }

    /// The resources served now.
    pub(crate) fn snapshot(&self) -> Arc<Resources> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A channel that changes with what is served.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Replaces the versions that a definition serves; none ends it.
    pub(crate) fn define(&self, definition: &str, versions: Vec<Resource>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut resources = (**current).clone();
        if versions.is_empty() {
            resources.custom.remove(definition);
        } else {
            let versions = versions.into_iter().map(Arc::new).collect();
            resources.custom.insert(definition.to_owned(), versions);
        }
        *current = Arc::new(resources);
        drop(current);
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl Resources {
    /// Every resource in every served version, built-in ones first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.built_in.iter().chain(self.custom.values().flatten())
    }

    /// The versions that a definition serves.
    pub(crate) fn of_definition(&self, definition: &str) -> &[Arc<Resource>] {
        self.custom.get(definition).map(Vec::as_slice).unwrap_or_default()
    }

    /// The resource behind a path.
    pub(crate) fn by_path(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<&Arc<Resource>> {
        self.iter().find(|r| r.id.plural == plural && r.id.group == group && r.version == version)
    }

    /// The resource of a kind, in any version.
    pub(crate) fn by_kind(&self, group: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.iter().find(|r| r.kind == kind && r.id.group == group)
    }

    /// The resource in the version that it is stored in.
    pub(crate) fn stored(&self, id: &GroupResource) -> Option<&Arc<Resource>> {
        let forms = || self.iter().filter(|r| *r.storage == *id);
        // A version that is not served any more may still be the stored one.
        forms().find(|r| r.is_stored_form()).or_else(|| forms().next())
    }

    /// Whether any version of a group is served.
    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.iter().any(|r| r.id.group == group)
    }

    /// The resources of one group version.
    pub(crate) fn of_group_version<'a, 'n>(
        &'a self,
        group: &'n str,
        version: &'n str,
    ) -> impl Iterator<Item = &'a Arc<Resource>> + use<'a, 'n> {
        self.iter().filter(move |r| r.id.group == group && r.version == version)
    }
}

/// Orders versions as Kubernetes does: stable before beta before alpha, then by numbers.
pub(crate) fn stability(version: &str) -> (u8, u32, u32) {
    let parse = || -> Option<(u8, u32, u32)> {
        let rest = version.strip_prefix('v')?;
        let split = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let major = rest[..split].parse().ok()?;
        match &rest[split..] {
            "" => Some((3, major, 0)),
            tail => {
                let (level, minor) = match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
                    (Some(minor), _) => (2, minor),
                    (_, Some(minor)) => (1, minor),
                    _ => return None,
                };
                Some((level, major, minor.parse().ok()?))
            }
        }
    };
    parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_stability_then_by_number() {
        let mut versions = ["foo", "v1alpha1", "v2", "v1beta2", "v10", "v1", "v1beta10"];
        versions.sort_by_key(|v| std::cmp::Reverse(stability(v)));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo"]);
    }
}
