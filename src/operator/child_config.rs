//! What is done with children of one type: the strategy, and what may be asked for beyond it.

use super::ConfigError;
use crate::object::K8sType;

/// A child type of an operator.
#[derive(Debug, Clone)]
pub struct ChildType {
    /// The type.
    pub ty: K8sType,
    /// What to do with its objects.
    pub config: ChildConfig,
}

/// What to do with children of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub struct ChildConfig {
    /// How a child that differs from what is desired gets there.
    pub update_strategy: UpdateStrategy,
    /// What to do when another field manager holds a field that the handler wants otherwise.
    /// Default [`ConflictPolicy::Force`].
    pub conflicts: ConflictPolicy,
    /// Whether an object that is there already and has no controller is taken over. Default not.
    pub adopt: bool,
    /// Whether a child is deleted and created anew when a change of it is refused because a field
    /// is immutable. Default not.
    pub recreate_if_immutable: bool,
    /// What becomes of what a child owns when it is deleted. Default [`Propagation::Background`].
    pub propagation: Propagation,
    /// Whether children may be where their parent cannot own them, see
    /// [`ChildConfig::delete_with_finalizer`].
    pub uncollectable: bool,
    /// Whether a change of nothing but a child's status is no reason to run. Default not.
    pub ignores_status: bool,
}

/// How a child that differs from what is desired gets there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateStrategy {
    /// Server-side apply of the desired fields; fields of others stay.
    Apply,
    /// Delete it, and create it anew once it is gone.
    Recreate,
    /// Leave it as it is; the change takes effect when somebody deletes it.
    OnDelete,
}

/// What to do when another field manager holds a field that the handler wants otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConflictPolicy {
    /// Take the field.
    #[default]
    Force,
    /// Leave the field to the other, apply the rest, and say so. Once the other lets go, the field
    /// is taken. A field that somebody changes by hand counts as theirs.
    Yield,
    /// Do not write the child at all, and say so, until the object changes.
    Report,
}

/// What becomes of what a child owns when the child is deleted, such as the Pods of a Job
/// ([propagation policy](https://kubernetes.io/docs/concepts/architecture/garbage-collection/)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// The child goes at once, what it owns afterwards.
    #[default]
    Background,
    /// The child goes when all that it owns and that blocks its end is gone.
    Foreground,
    /// What it owns stays.
    Orphan,
}

impl ChildConfig {
    /// Changed children are updated by server-side apply.
    pub fn apply() -> Self {
        Self::new(UpdateStrategy::Apply)
    }

    /// Changed children are deleted and created anew. Not one of which dry runs say that the new
    /// one would be the same, because an admission policy changes it, or that the server would not
    /// take it. Namespaces, volumes, claims and CRDs are never: their end is that of what they hold.
    pub fn recreate() -> Self {
        Self::new(UpdateStrategy::Recreate)
    }

    /// Existing children are never changed.
    pub fn on_delete() -> Self {
        Self::new(UpdateStrategy::OnDelete)
    }

    fn new(update_strategy: UpdateStrategy) -> Self {
        let (conflicts, propagation) = (ConflictPolicy::Force, Propagation::Background);
        let (adopt, recreate_if_immutable) = (false, false);
        let (uncollectable, ignores_status) = (false, false);
        Self {
            update_strategy,
            conflicts,
            adopt,
            recreate_if_immutable,
            propagation,
            uncollectable,
            ignores_status,
        }
    }

    /// Sets what to do when another field manager holds a field that the handler wants otherwise.
    #[must_use]
    pub fn with_conflicts(self, conflicts: ConflictPolicy) -> Self {
        Self { conflicts, ..self }
    }

    /// Sets what becomes of what a child owns when the child is deleted. Which policy a type has by
    /// itself is never relied on: a Job without one would leave its Pods behind.
    #[must_use]
    pub fn with_propagation(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    /// Takes over an object that is there already, has the name of a child and no controller: it
    /// gets our owner reference and labels, and what its field managers own becomes ours, so that
    /// what the handler does not want of that goes. What has a controller or is being deleted is
    /// left alone, and what Kubernetes itself filled in stays, as do finalizers and owner references.
    #[must_use]
    pub fn adopting(self) -> Self {
        Self { adopt: true, ..self }
    }

    /// Does not run a parent for a change of nothing but the status of such a child: for handlers that do
    /// not read it, over children whose status changes often. What is cached is as new as ever, so that
    /// a reconcile for another reason sees it.
    #[must_use]
    pub fn ignoring_status(self) -> Self {
        Self { ignores_status: true, ..self }
    }

    /// Deletes a child and creates it anew when a change is refused because a field of it is
    /// immutable; once for each wish of the handler, and only after a dry run has shown that nothing
    /// keeps a new object from coming after it.
    #[must_use]
    pub fn recreate_if_immutable(self) -> Self {
        Self { recreate_if_immutable: true, ..self }
    }
}

impl ChildConfig {
    /// Whether it could, but does not, create a child anew where a field cannot change.
    pub(crate) fn leaves_immutable(self, ty: &K8sType) -> bool {
        let is_applied = self.update_strategy == UpdateStrategy::Apply;
        is_applied && !self.recreate_if_immutable && !takes_others_along(ty)
    }
}

impl ChildType {
    /// Finds what cannot work.
    pub(super) fn validate(&self, operator: &str) -> Result<(), ConfigError> {
        let Self { ty, config } = self;
        let asked = [
            ("with_conflicts", config.conflicts != ConflictPolicy::Force),
            ("adopting", config.adopt),
            ("recreate_if_immutable", config.recreate_if_immutable),
        ];
        let is_applied = config.update_strategy == UpdateStrategy::Apply;
        if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked && !is_applied)
        {
            let operator = operator.to_owned();
            return Err(ConfigError::NotApplied { operator, ty: ty.clone(), option });
        }
        if config.adopt && config.uncollectable {
            let operator = operator.to_owned();
            return Err(ConfigError::AdoptsUncollectable { operator, ty: ty.clone() });
        }
        let may_recreate =
            config.recreate_if_immutable || config.update_strategy == UpdateStrategy::Recreate;
        if may_recreate && takes_others_along(ty) {
            let operator = operator.to_owned();
            return Err(ConfigError::NeverRecreated { operator, ty: ty.clone() });
        }
        Ok(())
    }
}

/// Whether the end of an object of this type is the end of what others have put there.
fn takes_others_along(ty: &K8sType) -> bool {
    matches!(
        (ty.group(), ty.kind()),
        ("", "Namespace" | "PersistentVolumeClaim" | "PersistentVolume")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::core::v1::{ConfigMap, Namespace, PersistentVolume, PersistentVolumeClaim, Secret},
        apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    };

    use super::*;
    use crate::operator::OperatorConfig;

    #[test]
    fn what_holds_the_data_of_others_is_never_recreated() {
        let asked = [ChildConfig::apply().recreate_if_immutable(), ChildConfig::recreate()];
        for (ty, expected) in [
            (K8sType::of::<Namespace>(), true),
            (K8sType::of::<PersistentVolumeClaim>(), true),
            (K8sType::of::<PersistentVolume>(), true),
            (K8sType::of::<CustomResourceDefinition>(), true),
            (K8sType::of::<Secret>(), false),
        ] {
            let operator = || OperatorConfig::of::<Namespace>("a");
            for config in asked {
                let refused = operator().child_of_type(ty.clone(), config).validate();
                let is_refused = matches!(refused, Err(ConfigError::NeverRecreated { .. }));
                assert_eq!(is_refused, expected, "{ty} {config:?}");
            }
            let applied = operator().child_of_type(ty, ChildConfig::apply());
            assert_eq!(applied.validate(), Ok(()));
        }
    }

    #[test]
    fn policies_are_for_children_that_are_applied() {
        let parent = || OperatorConfig::of::<Namespace>("a");
        for config in [
            ChildConfig::recreate().adopting(),
            ChildConfig::on_delete().recreate_if_immutable(),
            ChildConfig::on_delete().with_conflicts(ConflictPolicy::Yield),
            ChildConfig::recreate().with_conflicts(ConflictPolicy::Report),
        ] {
            let refused = parent().child::<ConfigMap>(config).validate();
            assert!(matches!(refused, Err(ConfigError::NotApplied { .. })), "{config:?}");
        }
        let all = ChildConfig::apply().adopting().recreate_if_immutable();
        assert_eq!(parent().child::<ConfigMap>(all).validate(), Ok(()));
    }
}
