//! The permissions to migrate the objects of types from old versions.

use k8s_openapi::api::rbac::v1::PolicyRule;

use super::{grants::Grants, named_rule::rule};
use crate::{object::K8sType, operator::conversion::Versions};

/// The types.
#[derive(Debug, Clone)]
pub(super) struct MigrationRights(Vec<K8sType>);

impl MigrationRights {
    /// `None` without a type.
    pub(super) fn of<'a>(versions: impl IntoIterator<Item = &'a Versions>) -> Option<Self> {
        let types: Vec<K8sType> = versions.into_iter().map(|it| it.hub.clone()).collect();
        (!types.is_empty()).then_some(Self(types))
    }

    /// CRDs by name, and all objects of the types: one that is not written keeps the old version.
    pub(super) fn rules(&self) -> Vec<PolicyRule> {
        const GROUP: &str = "apiextensions.k8s.io";
        let names: Vec<String> = self.0.iter().map(K8sType::resource_name).collect();
        let crds = (GROUP, &["customresourcedefinitions"][..]);
        let statuses = (GROUP, &["customresourcedefinitions/status"][..]);
        let mut objects = Grants::default();
        for ty in &self.0 {
            objects.allow(ty.group(), ty.plural(), &["list", "update"]);
        }
        let of_crds =
            [rule(crds, names.clone(), &["get", "watch"]), rule(statuses, names, &["patch"])];
        of_crds.into_iter().chain(objects.rules()).collect()
    }
}
