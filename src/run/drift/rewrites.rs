//! Collects the repeated writes of a reconcile.

#![deny(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeSet, HashMap};

use crate::{
    history::Verb,
    journal::{Fact, Written},
    object::K8sType,
    plan::{ChildId, Rewrite},
};

/// The repeated writes of a reconcile. Only [`Drift::learn`] changes it.
#[derive(Debug, Default)]
pub(in crate::run) struct Drift {
    pub(in crate::run) is_same_parent: bool,
    /// The pending rewrites, and those that were written.
    rewrites: HashMap<ChildId, Rewrite>,
    pub(super) rewritten: Vec<(ChildId, Rewrite, Verb)>,
    created: BTreeSet<K8sType>,
}

impl Drift {
    /// Begins; tells whether the parent is unchanged since the previous reconcile.
    pub(in crate::run) fn begin(is_same_parent: bool) -> Self {
        Self { is_same_parent, ..Self::default() }
    }

    /// The rewrites of a plan.
    pub(super) fn of(is_same_parent: bool, rewrites: HashMap<ChildId, Rewrite>) -> Self {
        Self { is_same_parent, rewrites, ..Self::default() }
    }

    /// Why a child is written again, if it is.
    pub(in crate::run) fn rewrite_of(&self, child: &ChildId) -> Option<&Rewrite> {
        self.rewrites.get(child)
    }

    pub(super) fn has_created(&self, ty: &K8sType) -> bool {
        self.created.contains(ty)
    }

    #[expect(clippy::match_same_arms, reason = "what does not matter here, by subject")]
    pub(in crate::run) fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Drifted { child, paths, to, changed_by } => {
                if let Some(rewrite) = self.rewrites.get_mut(child) {
                    rewrite.paths.clone_from(paths);
                    rewrite.to = Some(to.clone());
                    rewrite.changed_by.clone_from(changed_by);
                }
            }
            Fact::Written(Written { child, verb, rewrite, .. }) => {
                self.rewrites.remove(child);
                if *verb == Verb::Created {
                    self.created.insert(child.ty.clone());
                }
                let rewrite = rewrite.clone().map(|rewrite| (child.clone(), rewrite, *verb));
                self.rewritten.extend(rewrite);
            }
            Fact::Began(_) | Fact::Parent(_) | Fact::ParentWaits(_) => {}
            Fact::BeganPaused(_) | Fact::Paused(_) => {}
            Fact::FinalizersChanged | Fact::FinalizersDelayed(_) => {}
            Fact::Answered { .. } | Fact::Resync(_) | Fact::Failed(_) => {}
            Fact::Planned(_) | Fact::TerminatingChildren { .. } | Fact::Judged { .. } => {}
            Fact::WritesEnded { .. } | Fact::WritesHeld(_) | Fact::ChildrenNotRetried => {}
            Fact::UpToDate(_) | Fact::DryRunUnchanged(_) | Fact::DryRunDiffers(_) => {}
            Fact::Waits { .. } | Fact::RolledOut(_) | Fact::WaitedFor(_) | Fact::StageDue(_) => {}
            Fact::WroteNothing { .. } | Fact::MayBeDeleted { .. } => {}
            Fact::RequestFailed { .. } | Fact::Foreign(_) | Fact::NotForeign(_) => {}
            Fact::Unwatched | Fact::ConflictFound(_) | Fact::Contested(_) => {}
            Fact::RivalFound { .. } | Fact::Repeated(_) | Fact::Slowed { .. } => {}
            Fact::Flapping(..) => {}
            Fact::Decorated(_) | Fact::Scaled { .. } | Fact::DecorationHeld { .. } => {}
            Fact::DecorationFree { .. } | Fact::DecorationDelayed(_) => {}
            Fact::ReadyReturned | Fact::NotReady(_) | Fact::StatusUpToDate { .. } => {}
            Fact::StatusSent { .. } | Fact::StatusWritten | Fact::StatusDue => {}
            Fact::StatusFailed(_) | Fact::StatusRefused { .. } | Fact::StatusBegan => {}
            Fact::Undeclared(_) | Fact::ParentHeld(_) | Fact::Overruled(_) => {}
        }
    }
}
