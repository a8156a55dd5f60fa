//! Types as labels: as kubectl writes them, with the version only where a process uses two versions
//! of one type. Each version has its own cache, and its gauges would overwrite those of the other. A label
//! stays while the type is used, whatever comes later.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

use crate::object::K8sType;

#[derive(Debug, Default)]
pub(super) struct TypeLabels(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    types: Vec<K8sType>,
    /// The labels that are not simply the name.
    labels: BTreeMap<K8sType, String>,
}

impl TypeLabels {
    pub(super) fn tell_apart(&self, types: &[&K8sType]) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let new = types.iter().filter(|ty| !known.types.contains(ty));
        let new: Vec<K8sType> = new.map(|ty| (*ty).clone()).collect();
        known.types.extend(new.iter().cloned());
        for ty in new {
            let is_namesake =
                |other: &K8sType| *other != ty && other.resource_name() == ty.resource_name();
            if known.types.iter().any(is_namesake) {
                let label = with_version(&ty);
                known.labels.insert(ty, label);
            }
        }
    }

    pub(super) fn forget(&self, ty: &K8sType) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.types.retain(|known| known != ty);
        known.labels.remove(ty);
    }

    pub(super) fn label(&self, ty: &K8sType) -> String {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.labels.get(ty).cloned().unwrap_or_else(|| ty.resource_name())
    }
}

fn with_version(ty: &K8sType) -> String {
    format!("{}.{}.{}", ty.plural(), ty.version(), ty.group())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_label_only_where_a_type_has_two() {
        let ovens =
            |version| K8sType::namespaced(&format!("example.com/{version}"), "Oven", "ovens");
        let elsewhere = K8sType::namespaced("example.org/v1", "Oven", "ovens");
        let pods = K8sType::namespaced("v1", "Pod", "pods");
        let labels = TypeLabels::default();
        assert_eq!(labels.label(&ovens("v1")), "ovens.example.com", "before the start");
        labels.tell_apart(&[&ovens("v1"), &ovens("v2"), &elsewhere, &pods]);
        for (ty, expected) in [
            (ovens("v1"), "ovens.v1.example.com"),
            (ovens("v2"), "ovens.v2.example.com"),
            (elsewhere, "ovens.example.org"),
            (pods, "pods"),
            (K8sType::namespaced("apps/v1", "Deployment", "deployments"), "deployments.apps"),
        ] {
            assert_eq!(labels.label(&ty), expected);
        }
        let deployments = K8sType::namespaced("apps/v2", "Deployment", "deployments");
        labels.tell_apart(&[&K8sType::namespaced("apps/v1", "Deployment", "deployments")]);
        labels.tell_apart(&[&deployments]);
        assert_eq!(labels.label(&deployments), "deployments.v2.apps");
        let first = K8sType::namespaced("apps/v1", "Deployment", "deployments");
        assert_eq!(labels.label(&first), "deployments.apps", "it was there before");
        labels.forget(&first);
        labels.forget(&deployments);
        labels.tell_apart(&[&deployments]);
        assert_eq!(labels.label(&deployments), "deployments.apps");
    }
}
