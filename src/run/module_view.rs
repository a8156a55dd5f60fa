//! What a module may read, and predicates on it.

use std::sync::Arc;

use super::{Memory, Now, Settings, Sibling, Snapshot};
use crate::{
    journal::{PausedBy, Progress},
    object::{Object, Quoted, Readiness},
    operator::{Children, ConditionNames, Pause, is_paused},
    plan::{ChildId, Rewrite, Rewrites, is_orphan},
};

/// What a module may read.
pub(super) struct View<'a> {
    pub(super) settings: &'a Settings,
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: Now,
    /// The parent as the reconcile sees it.
    pub(super) parent: &'a Object,
    pub(super) memory: &'a Memory,
    pub(super) progress: &'a Progress,
    pub(super) rewrites: &'a Rewrites,
    /// Whether the reconcile is a preview, whose parent may be another version than the cached one.
    pub(super) is_preview: bool,
}

impl View<'_> {
    /// Whether the parent must not be synced any more: it is gone, terminating, or no longer selected. A
    /// parent that is finalized leaves when it is released.
    pub(super) fn has_left(&self) -> bool {
        let was_leaving = self.settings.is_leaving(self.parent);
        let takes_leave = self.settings.takes_leave(self.parent);
        let leaves = |now: &Object| {
            if takes_leave {
                return !self.settings.takes_leave(now);
            }
            if was_leaving { !self.settings.holds_ours(now) } else { self.settings.is_leaving(now) }
        };
        self.parent_now().is_none_or(|now| now != *self.parent && leaves(&now))
    }

    pub(super) fn paused_by(&self, parent: &Object) -> Option<PausedBy> {
        let by_annotation = is_paused(parent, self.now.wall).then_some(PausedBy::Annotation);
        by_annotation.or(self.paused_by_operator())
    }

    fn paused_by_operator(&self) -> Option<PausedBy> {
        self.snapshot.pause.is_some().then_some(PausedBy::Operator)
    }

    /// What pauses the parent now and did not when the reconcile began.
    pub(super) fn paused_meanwhile(&self) -> Option<PausedBy> {
        let now = self.parent_now();
        let wall = self.now.wall;
        let by_annotation = now.is_some_and(|now| now != *self.parent && is_paused(&now, wall));
        by_annotation.then_some(PausedBy::Annotation).or(self.paused_by_operator())
    }

    /// What is known of a pause, if more than that it is there.
    pub(super) fn pause_by(&self, by: PausedBy) -> Option<Arc<Pause>> {
        let pause = match by {
            PausedBy::Annotation => {
                let now = self.parent_now();
                let pause = now.as_ref().and_then(Pause::of).or_else(|| Pause::of(self.parent));
                pause.map(Arc::new)
            }
            PausedBy::Operator => self.snapshot.pause.clone(),
        };
        pause.filter(|pause| !pause.is_bare())
    }

    pub(super) fn paused_by_now(&self) -> Option<PausedBy> {
        self.paused_by(self.parent).or_else(|| self.paused_meanwhile())
    }

    /// The other operators of the parent.
    pub(super) fn siblings(&self) -> Vec<Sibling> {
        let others = self.snapshot.others.iter();
        self.settings.beside(others.filter_map(|it| it.as_sibling(self.parent)).collect())
    }

    /// The types of the framework's conditions in the status of the parent.
    pub(super) fn condition_names(&self) -> ConditionNames {
        self.settings.condition_names(&self.siblings())
    }

    /// The cached objects that refer to the parent, ours or not; without the changes of this step.
    pub(super) fn observed(&self) -> Children {
        let types = self.settings.config().children.iter().map(|child| &child.ty);
        self.snapshot.objects.of_parent(types, self.parent.uid())
    }

    /// The cached children of the parent.
    pub(super) fn children(&self) -> Children {
        self.settings.ours(self.parent, &self.observed())
    }

    /// The number of cached children of the operator; reads all of them.
    pub(super) fn count_children(&self) -> usize {
        let children = self.settings.config().children.iter();
        let objects = children.flat_map(|child| self.snapshot.objects.objects(&child.ty));
        objects.filter(|object| self.settings.manages(object)).count()
    }

    /// A cached child, if it is ours.
    pub(super) fn own_child(&self, id: &ChildId) -> Option<Object> {
        self.snapshot.cached(id).filter(|child| self.settings.is_ours(self.parent, child))
    }

    /// Why a child is written again, unless it was.
    pub(super) fn rewrite_of(&self, child: &ChildId) -> Option<&Rewrite> {
        if self.progress.rewritten.contains_key(child) {
            return None;
        }
        let foreseen = self.rewrites.by_child.get(child)?;
        Some(self.progress.drifted.get(child).unwrap_or(foreseen))
    }

    /// Why a child is not ready.
    pub(super) fn why_not_ready(&self, id: &ChildId) -> Quoted {
        let child = self.own_child(id);
        let readiness = child.map(|child| self.settings.config().readiness(&child));
        Quoted::new(readiness.unwrap_or_else(Readiness::missing).to_string())
    }

    /// The other living parent of an orphaned child. An orphaned child outlives its parent.
    pub(super) fn other_parent(&self, object: &Object) -> Option<Object> {
        let uid = object.label(&self.settings.config().labels.parent_uid)?;
        let is_other = is_orphan(object) && uid != self.parent.uid().to_string();
        let parents = || self.snapshot.objects.objects(self.parent.ty());
        if is_other { parents().into_iter().find(|it| *it.uid() == *uid) } else { None }
    }

    pub(super) fn parent_now(&self) -> Option<Object> {
        if self.is_preview {
            return Some(self.parent.clone());
        }
        let now = self.snapshot.cached(&ChildId::of(self.parent));
        now.filter(|now| now.uid() == self.parent.uid())
    }
}
