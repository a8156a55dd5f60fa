//! Collects the repeated writes of a reconcile.

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
            _ => {}
        }
    }
}
