//! How children of one type are treated: the strategy and its options.

use serde::{Deserialize, Serialize};

use super::{ChildConfigError, Rolling};
use crate::object::K8sType;

/// How children of one type are treated. As JSON it has its fields' names; those of
/// [`ChildConfig::apply`] may be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default = "ChildConfig::apply", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub struct ChildConfig {
    /// How a child that differs from the desired state is changed.
    pub update_strategy: UpdateStrategy,
    /// What to do when another field manager owns a field with another value than desired. Default
    /// [`ConflictPolicy::Force`].
    pub conflicts: ConflictPolicy,
    /// Whether an existing object without a controller is adopted. Default no.
    pub adopt: bool,
    /// Whether a child is deleted and created again when a change is refused because a field is
    /// immutable. Default no.
    pub recreate_if_immutable: bool,
    /// What happens to the objects that a child owns when it is deleted. Default
    /// [`Propagation::Background`].
    pub propagation: Propagation,
    /// Whether children may be where their parent cannot own them, see
    /// [`ChildConfig::delete_with_finalizer`].
    pub delete_with_finalizer: bool,
    /// Whether children stay when their parent is deleted, see [`ChildConfig::orphan_on_delete`].
    pub orphan_on_delete: bool,
    /// Whether a change of only a child's status does not reconcile the parent. Default no.
    pub ignores_status: bool,
    /// Whether a parent may be ready although such a child is not. Default no.
    pub ignores_readiness: bool,
    /// How many children of the type may be unavailable while they are changed. Default any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling: Option<Rolling>,
}

/// How a child that differs from the desired state is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UpdateStrategy {
    /// Server-side apply of the desired fields; fields of others are not modified.
    Apply,
    /// Delete it, and create it again once it is gone.
    Recreate,
    /// Do not modify it; the change takes effect when a user deletes it.
    OnDelete,
}

/// What to do when another field manager owns a field with another value than desired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ConflictPolicy {
    /// Take the field.
    #[default]
    Force,
    /// Do not write the field, apply the rest, and report it. Once the other manager gives it up,
    /// the field is written. A field that a user changes manually counts as owned by that user.
    Yield,
    /// Do not write the child at all, and report it, until the object changes.
    Report,
}

/// What happens to the objects that a child owns when the child is deleted, such as the Pods of a
/// Job ([propagation policy](https://kubernetes.io/docs/concepts/architecture/garbage-collection/)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Propagation {
    /// The child is deleted at once, the objects that it owns afterwards.
    #[default]
    Background,
    /// The child is deleted after the objects that it owns and that block its deletion.
    Foreground,
    /// The objects that it owns stay.
    Orphan,
}

impl ChildConfig {
    /// Changed children are updated by server-side apply.
    pub fn apply() -> Self {
        Self::new(UpdateStrategy::Apply)
    }

    /// Changed children are deleted and created again. A child is kept if dry runs show that the
    /// new one would be the same, because an admission policy changes it, or that the server would
    /// refuse it. Namespaces, volumes, claims and CRDs are never recreated: deleting them deletes
    /// their content.
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
        let (delete_with_finalizer, orphan_on_delete) = (false, false);
        let (ignores_status, ignores_readiness) = (false, false);
        Self {
            update_strategy,
            conflicts,
            adopt,
            recreate_if_immutable,
            propagation,
            delete_with_finalizer,
            orphan_on_delete,
            ignores_status,
            ignores_readiness,
            rolling: None,
        }
    }

    /// Changes the children of the type a few at a time, see [`Rolling`].
    #[must_use]
    pub fn rolling(self, rolling: Rolling) -> Self {
        Self { rolling: Some(rolling), ..self }
    }

    /// Sets what to do when another field manager owns a field with another value than desired.
    #[must_use]
    pub fn with_conflicts(self, conflicts: ConflictPolicy) -> Self {
        Self { conflicts, ..self }
    }

    /// Sets what happens to the objects that a child owns when the child is deleted. The default
    /// policy of a type is never relied on: a Job without a policy would leave its Pods behind.
    #[must_use]
    pub fn with_propagation(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    /// Adopts an existing object that has the name of a child and no controller: it gets our owner
    /// reference and labels, and the fields of its managers become ours, so that those that are not
    /// desired are removed. An object that has a controller or is being deleted is not modified;
    /// fields that Kubernetes itself filled in stay, as do finalizers and owner references.
    #[must_use]
    pub fn adopting(self) -> Self {
        Self { adopt: true, ..self }
    }

    /// Does not reconcile a parent when only the status of such a child changes: for handlers that
    /// do not read it, with children whose status changes often. The cache stays up to date, so
    /// that a reconcile for another reason sees the status. A child that becomes ready, or is not
    /// ready any more, still reconciles its parent, unless that [ignores](Self::ignoring_readiness)
    /// it too.
    #[must_use]
    pub fn ignoring_status(self) -> Self {
        Self { ignores_status: true, ..self }
    }

    /// Does not count such a child for the condition `Ready` of its parent: for a Job that runs
    /// beside a service, or a type whose conditions mean something else.
    #[must_use]
    pub fn ignoring_readiness(self) -> Self {
        Self { ignores_readiness: true, ..self }
    }

    /// Deletes a child and creates it again when a change is refused because a field of it is
    /// immutable: once for each desired state, and only after a dry run has shown that the server
    /// would accept the new object.
    #[must_use]
    pub fn recreate_if_immutable(self) -> Self {
        Self { recreate_if_immutable: true, ..self }
    }
}

impl ChildConfig {
    /// Whether it could, but does not, recreate a child whose field cannot change.
    pub(crate) fn leaves_immutable(self, ty: &K8sType) -> bool {
        let is_applied = self.update_strategy == UpdateStrategy::Apply;
        is_applied && !self.recreate_if_immutable && !holds_objects_of_others(ty)
    }
}

impl ChildConfig {
    /// Refuses options that cannot work together for objects of a type.
    pub(super) fn validate(self, ty: &K8sType) -> Result<(), ChildConfigError> {
        let asked = [
            ("with_conflicts(..)", self.conflicts != ConflictPolicy::Force),
            ("adopting()", self.adopt),
            ("recreate_if_immutable()", self.recreate_if_immutable),
        ];
        let is_applied = self.update_strategy == UpdateStrategy::Apply;
        if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked && !is_applied)
        {
            return Err(ChildConfigError::NotApplied { option });
        }
        if self.orphan_on_delete && self.delete_with_finalizer {
            return Err(ChildConfigError::KeptAndDeleted);
        }
        if self.adopt && self.delete_with_finalizer {
            return Err(ChildConfigError::AdoptsUncollectable);
        }
        if self.rolling.is_some() && self.update_strategy == UpdateStrategy::OnDelete {
            return Err(ChildConfigError::RollsNothing);
        }
        self.rolling.map_or(Ok(()), Rolling::validate)?;
        let may_recreate =
            self.recreate_if_immutable || self.update_strategy == UpdateStrategy::Recreate;
        if may_recreate && holds_objects_of_others(ty) {
            return Err(ChildConfigError::NeverRecreated);
        }
        Ok(())
    }
}

/// Whether deleting an object of this type deletes objects of others.
fn holds_objects_of_others(ty: &K8sType) -> bool {
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
    use crate::operator::{ConfigError, OperatorConfig};

    fn why(refused: Result<(), ConfigError>) -> Option<ChildConfigError> {
        match refused {
            Err(ConfigError::Child { why, .. }) => Some(why),
            _ => None,
        }
    }

    #[test]
    fn a_type_that_holds_objects_of_others_is_never_recreated() {
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
                let is_refused = why(refused) == Some(ChildConfigError::NeverRecreated);
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
            let why = why(refused);
            assert!(matches!(why, Some(ChildConfigError::NotApplied { .. })), "{config:?}");
        }
        let all = ChildConfig::apply().adopting().recreate_if_immutable();
        assert_eq!(parent().child::<ConfigMap>(all).validate(), Ok(()));
    }
}
