//! Types as labels: as kubectl writes them, with the version only where a process uses two versions
//! of one type. Each version has its own cache, and its gauges would overwrite those of the other.

use std::{collections::BTreeMap, sync::OnceLock};

use crate::object::K8sType;

#[derive(Debug, Default)]
pub(super) struct TypeLabels(OnceLock<BTreeMap<K8sType, String>>);

impl TypeLabels {
    pub(super) fn tell_apart(&self, types: &[&K8sType]) {
        let has_namesake = |ty: &K8sType| {
            let name = ty.resource_name();
            types.iter().any(|other| **other != *ty && other.resource_name() == name)
        };
        let alike = types.iter().copied().filter(|ty| has_namesake(ty));
        // A process starts only once.
        let _ = self.0.set(alike.map(|ty| (ty.clone(), with_version(ty))).collect());
    }

    pub(super) fn label(&self, ty: &K8sType) -> String {
        let own = self.0.get().and_then(|labels| labels.get(ty));
        own.cloned().unwrap_or_else(|| ty.resource_name())
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
    }
}
