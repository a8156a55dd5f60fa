//! Children that stay when their parent is deleted.

use super::ChildConfig;

/// The value of [`ORPHAN_LABEL`](super::ORPHAN_LABEL) on what a finalization made for a parent whose owned
/// children Kubernetes deletes or orphans meanwhile: it has no owner reference either, and goes with the parent.
pub(crate) const UNTIL_FINALIZED: &str = "until-finalized";

impl ChildConfig {
    /// Keeps children when their parent is deleted, whatever the propagation policy of that deletion
    /// is. A child that the handler no longer returns while the parent lives is deleted as usual.
    ///
    /// Such a child has no owner reference, as Kubernetes would collect it, and the label
    /// [`ORPHAN_LABEL`](super::ORPHAN_LABEL). It is ours if it has our labels, set by this operator's own server-side
    /// apply, as `managedFields` shows. One that has lost them has no owner: it stays, and is
    /// reported as a conflict. An existing child loses its owner reference with the next reconcile
    /// of its parent, and gets it back when the option is removed.
    ///
    /// A new parent of the same name finds what an old one left as an object of nobody: a type that is
    /// also [adopting](ChildConfig::adopting) takes it, unless its parent still lives.
    ///
    /// It cannot be combined with [`ChildConfig::delete_with_finalizer`], which deletes what
    /// Kubernetes does not collect.
    #[must_use]
    pub fn orphan_on_delete(self) -> Self {
        Self { orphan_on_delete: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;
    use crate::operator::OperatorConfig;

    #[test]
    fn children_that_stay_need_no_finalizer_and_are_not_deleted_with_one() {
        let config =
            |child: ChildConfig| OperatorConfig::of::<ConfigMap>("a").child::<Secret>(child);
        let kept = ChildConfig::apply().adopting().orphan_on_delete();
        assert_eq!(config(kept).validate(), Ok(()));
        assert!(!config(kept).needs_finalizer(false));
        let both = ChildConfig::apply().orphan_on_delete().delete_with_finalizer();
        assert_eq!(
            config(both).validate().unwrap_err().to_string(),
            "operator `a`: Secret.v1: `orphan_on_delete()` keeps what `delete_with_finalizer()` \
             deletes: remove one of them"
        );
    }
}
