//! Children that Kubernetes does not collect, because their parent cannot own them.

use super::{ChildConfig, OperatorConfig, Role};
use crate::object::K8sType;

impl ChildConfig {
    /// Also allows children of a namespaced parent in other namespaces, and cluster-scoped ones.
    ///
    /// No owner reference is possible there, so Kubernetes neither shows the parent of these
    /// children nor collects them. A child is then ours if it has the label with the parent's uid
    /// and the one with the operator's name, both set by this operator's own server-side apply, as
    /// `managedFields` shows. An object that merely has the labels is never written or deleted. One
    /// that has lost them has no owner: it stays, and is reported as a conflict.
    ///
    /// An operator with such a child type adds its finalizer to every parent, even if the handler
    /// has none. When the parent is deleted, these children are deleted after the handler's
    /// `finalize`, however many there are, and the parent once they are gone. Meanwhile `finalize`
    /// may be called again, and children that only this parent owns are deleted too, as the others
    /// may wait for them (unless others hold the parent by finalizers of their own, and may need
    /// them). The propagation policy of the parent's deletion does not apply to these children:
    /// `orphan` keeps only owned ones.
    ///
    /// They stay, as all children do, when the parent leaves the selection of the operator or the
    /// operator no longer declares the type; then they have to be deleted manually.
    ///
    /// Such a type cannot be [adopting](ChildConfig::adopting): an object without a controller may
    /// be the child of another parent.
    ///
    /// If the operator is restricted to namespaces the child has to be in one of these.
    #[must_use]
    pub fn delete_with_finalizer(self) -> Self {
        Self { delete_with_finalizer: true, ..self }
    }
}

impl<R: Role> OperatorConfig<R> {
    /// The child types that Kubernetes may not collect.
    pub(crate) fn deleted_with_finalizer(&self) -> impl Iterator<Item = &K8sType> {
        let declared = self.children.iter().filter(|child| child.config.delete_with_finalizer);
        let is_namespaced = self.parent.is_namespaced();
        declared.filter(move |_| is_namespaced).map(|child| &child.ty)
    }

    /// Whether parents get the operator's finalizer; given whether the handler finalizes.
    pub(crate) fn needs_finalizer(&self, has_finalizer: bool) -> bool {
        has_finalizer || self.deleted_with_finalizer().next().is_some()
    }

    /// Whether parents that are not selected are watched: a finalizer of the operator, or of its
    /// predecessor, would keep them for ever, and a decorator removes what it added.
    pub(crate) fn sees_all_parents(&self, has_finalizer: bool) -> bool {
        self.is_decorator()
            || self.needs_finalizer(has_finalizer)
            || !self.predecessor.finalizers.is_empty()
    }

    /// Whether children of a type can exist anywhere.
    pub(super) fn may_have_children(&self, ty: &K8sType) -> bool {
        let is_allowed = self.child_config(ty).is_some_and(|config| config.delete_with_finalizer)
            && self.namespaces.names().is_none();
        ty.is_namespaced() || !self.parent.is_namespaced() || is_allowed
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};

    use super::*;
    use crate::operator::{ChildConfigError, ConfigError};

    #[test]
    fn a_cluster_scoped_child_of_a_namespaced_parent_has_to_be_allowed() {
        let config = |child| OperatorConfig::of::<ConfigMap>("a").child::<Namespace>(child);
        let is_refused = |config: &OperatorConfig| {
            matches!(config.validate(), Err(ConfigError::ClusterChild { .. }))
        };
        assert!(is_refused(&config(ChildConfig::apply())));
        let allowed = config(ChildConfig::apply().delete_with_finalizer());
        assert_eq!(allowed.validate(), Ok(()));
        assert!(is_refused(&allowed.within_namespace("x")), "it is outside of every namespace");
    }

    #[test]
    fn a_child_without_an_owner_reference_is_not_adopted() {
        let child = ChildConfig::apply().delete_with_finalizer().adopting();
        let refused = OperatorConfig::of::<ConfigMap>("a").child::<Secret>(child).validate();
        let why = ChildConfigError::AdoptsUncollectable;
        assert!(matches!(refused, Err(ConfigError::Child { why: it, .. }) if it == why));
    }

    #[test]
    fn the_finalizer_is_needed_only_where_kubernetes_does_not_collect() {
        let child = ChildConfig::apply();
        for (config, expected) in [
            (OperatorConfig::of::<ConfigMap>("a").child::<Secret>(child), false),
            (
                OperatorConfig::of::<ConfigMap>("a").child::<Secret>(child.delete_with_finalizer()),
                true,
            ),
            (
                OperatorConfig::of::<Namespace>("a").child::<Secret>(child.delete_with_finalizer()),
                false,
            ),
        ] {
            assert_eq!(config.needs_finalizer(false), expected, "{config:?}");
        }
    }
}
