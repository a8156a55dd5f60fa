//! Children that Kubernetes does not collect, because their parent cannot own them.

use super::{ChildConfig, Handler, OperatorConfig};
use crate::object::K8sType;

impl ChildConfig {
    /// Also allows children of a namespaced parent in other namespaces, and cluster-scoped ones.
    ///
    /// No owner reference can point there, so Kubernetes neither shows whose these children are nor
    /// collects them. Ours is then what carries the label with the parent's uid and the one with
    /// the operator's name, both put there by this operator's own server-side apply, as
    /// `managedFields` shows. An object that merely carries the labels is never written or deleted.
    /// One that has lost them is nobody's: it stays, and is reported as a conflict.
    ///
    /// An operator with such a child type puts its finalizer on every parent, whether the handler
    /// asks for one or not. When the parent is deleted, these children are deleted after the
    /// handler's `finalize`, however many they are, and the parent goes when they are gone; while
    /// they take their time `finalize` may be called again, and children that only this parent owns
    /// are deleted too, as what is waited for may wait for them (not while others hold the parent by
    /// finalizers of their own, who may need them). The propagation policy with which
    /// the parent is deleted changes nothing for these children: `orphan` keeps only owned ones.
    ///
    /// They stay, as all children do, when the parent leaves the selection of the operator or the
    /// operator no longer declares the type; nobody deletes them from then on.
    ///
    /// Such a type is never [adopting](ChildConfig::adopting): an object without a controller may be
    /// the child of another parent.
    ///
    /// For an operator that is restricted to namespaces the child has to be in one of these.
    #[must_use]
    pub fn delete_with_finalizer(self) -> Self {
        Self { uncollectable: true, ..self }
    }
}

impl OperatorConfig {
    /// The child types that Kubernetes may not collect.
    pub fn uncollectable(&self) -> impl Iterator<Item = &K8sType> {
        let declared = self.children.iter().filter(|child| child.config.uncollectable);
        let is_namespaced = self.parent.is_namespaced();
        declared.filter(move |_| is_namespaced).map(|child| &child.ty)
    }

    /// Whether the operator's finalizer is put on its parents.
    pub fn needs_finalizer(&self, handler: &dyn Handler) -> bool {
        handler.has_finalizer() || self.uncollectable().next().is_some()
    }

    /// Whether parents that are not selected are looked at: a finalizer of the operator, or of the one
    /// that it took over from, would keep them for ever.
    pub fn sees_all_parents(&self, handler: &dyn Handler) -> bool {
        self.needs_finalizer(handler) || !self.predecessor.finalizers.is_empty()
    }

    /// Whether there is any place where children of a type could be.
    pub(super) fn may_have_children(&self, ty: &K8sType) -> bool {
        let is_allowed = self.child_config(ty).is_some_and(|config| config.uncollectable)
            && self.namespaces.names().is_none();
        ty.is_namespaced() || !self.parent.is_namespaced() || is_allowed
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};

    use super::*;
    use crate::operator::{ConfigError, SyncRequest, SyncResponse};

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
    fn what_cannot_be_told_from_the_child_of_another_is_not_adopted() {
        let child = ChildConfig::apply().delete_with_finalizer().adopting();
        let refused = OperatorConfig::of::<ConfigMap>("a").child::<Secret>(child).validate();
        assert!(matches!(refused, Err(ConfigError::AdoptsUncollectable { .. })));
    }

    #[test]
    fn the_finalizer_is_needed_only_where_kubernetes_does_not_collect() {
        let sync = |_: &SyncRequest| Ok(SyncResponse::new());
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
            assert_eq!(config.needs_finalizer(&sync), expected, "{config:?}");
        }
    }
}
