//! Observes: from the cached parent to what the handler may see.

use std::collections::VecDeque;

use super::{
    Answer, Effect, Reply, Request, drift,
    effect::Cache,
    parent::finalizer::{self, FinalizerChange, FinalizerNext},
    reconcile::Reconcile,
    stage::Stage,
    turn::{Next, child_failed, step_failed, waits_for_the_end},
};
use crate::{
    journal::{End, Fact, Failure, Held, Pause, PausedBy},
    object::Object,
    plan::{ChildId, Rewrites},
    reply::ApiError,
};

impl Reconcile {
    pub(super) fn observe(&mut self) -> Stage {
        self.parent = self.cached_parent();
        if self.parent.is_none() {
            return self.gone();
        }
        if self.snapshot.doubts.is_parent_undecodable {
            // The cached version is outdated.
            self.send(Request::Read(ChildId::of(self.parent())));
            return Stage::ReadingParent;
        }
        self.prepare_if_available()
    }

    pub(super) fn parent_read(&mut self, answer: Answer) -> Stage {
        match Reply::object(answer) {
            Ok(live) => {
                if let Some(live) = live.clone() {
                    self.cache(Cache::Saw(live));
                }
                match live.filter(|live| *live.uid() == self.uid) {
                    Some(live) => {
                        self.parent = Some(live);
                        self.prepare_if_available()
                    }
                    None => self.gone(),
                }
            }
            Err(error) => {
                self.note([step_failed("the parent", error)]);
                self.finish()
            }
        }
    }

    fn gone(&mut self) -> Stage {
        self.parent_is(End::Gone);
        self.finish()
    }

    /// Does not call the handler while a child type cannot be listed: its children would appear deleted.
    fn prepare_if_available(&mut self) -> Stage {
        match self.snapshot.unavailable.clone() {
            Some(why) => {
                self.note([Fact::Failed(Failure::Unavailable(why))]);
                self.write_status(None)
            }
            None => self.prepare(),
        }
    }

    /// Adds or removes our finalizer where needed, and finalizes a parent that is leaving.
    fn prepare(&mut self) -> Stage {
        let parent = self.parent().clone();
        if let Some(by) = self.view().paused_by(&parent) {
            return self.prepare_paused(by);
        }
        let is_leaving = self.settings.is_leaving(&parent);
        let is_held = self.settings.holds_ours(&parent);
        let takes_leave = self.settings.takes_leave(&parent);
        if is_leaving && (is_held || takes_leave) && self.snapshot.doubts.may_be_old {
            // Finalizing cannot be undone. After the restore of a backup the parent may not be terminating
            // any more, or may be selected again.
            self.send(Request::Read(ChildId::of(&parent)));
            return Stage::ReadingLeavingParent(parent);
        }
        match (is_leaving, is_held) {
            (true, false) if takes_leave => self.leave(),
            (true, false) => self.finish(),
            (true, true) => self.finalize_or_release(),
            (false, _) => self.change_finalizers(),
        }
    }

    pub(super) fn leaving_parent_read(&mut self, cached: &Object, answer: Answer) -> Stage {
        match Reply::object(answer) {
            // After a restore a version may be used twice: only the content tells them apart.
            Ok(Some(live)) if live == *cached && live.json() == cached.json() => {
                return self.finalize_or_release();
            }
            Ok(Some(live)) if live.uid() == cached.uid() => {
                self.cache(Cache::Saw(live));
            }
            Ok(_) => {
                let absent = Cache::Absent(ChildId::of(cached), cached.uid().clone());
                self.cache(absent);
            }
            Err(error) => return self.finalizer_failed(error),
        }
        self.parent_is(End::Outdated);
        self.finish()
    }

    /// Does not change the finalizers of a paused parent, and does not finalize it.
    fn prepare_paused(&mut self, by: PausedBy) -> Stage {
        let parent = self.parent().clone();
        self.note([Fact::BeganPaused(by)]);
        if self.settings.is_leaving(&parent) {
            if self.settings.holds_ours(&parent) || self.settings.takes_leave(&parent) {
                return self.hold_finalizing(by);
            }
            return self.finish();
        }
        let change = FinalizerChange::of_staying(&self.settings);
        let held = match by {
            PausedBy::Annotation => Some(Held::Undecided),
            PausedBy::Operator => {
                change.patch(&self.settings, &parent).is_some().then_some(Held::Finalizer)
            }
        };
        if held == Some(Held::Finalizer) {
            self.note([waits_for_the_end(by, "finalizer")]);
        }
        self.note(held.map(|held| Fact::Paused(Pause { by, held })));
        self.sync()
    }

    /// Changes the finalizers where needed; usually no request is sent.
    fn change_finalizers(&mut self) -> Stage {
        let parent = self.parent().clone();
        let change = FinalizerChange::of_staying(&self.settings);
        let is_due = change.patch(&self.settings, &parent).is_some();
        if is_due && let Some(times) = drift::finalizers_delayed(&self.view()) {
            self.note([Fact::FinalizersDelayed(times)]);
            // A parent gets no children before it has the finalizer that it needs.
            let is_bare = self.settings.needs_finalizer && !self.settings.holds(&parent);
            return if is_bare { self.finish() } else { self.sync() };
        }
        let next = self.ask(|view| finalizer::begin(change, parent, view));
        self.changing_finalizer(is_due, next)
    }

    pub(super) fn finalizer_answered(
        &mut self,
        is_due: bool,
        awaited: finalizer::AwaitedFinalizer,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| finalizer::answered(awaited, answer, view));
        self.changing_finalizer(is_due, next)
    }

    fn changing_finalizer(&mut self, is_due: bool, next: FinalizerNext) -> Stage {
        match next {
            Next::Ask(request, awaited) => {
                self.send(request);
                Stage::ChangingFinalizer { is_due, awaited }
            }
            Next::Done(Err(error)) => self.finalizer_failed(error),
            Next::Done(Ok(parent)) => self.finalizer_changed(parent, is_due),
        }
    }

    fn finalizer_changed(&mut self, parent: Option<Object>, is_due: bool) -> Stage {
        let Some(parent) = parent.filter(|parent| !self.settings.is_leaving(parent)) else {
            return self.finish();
        };
        let change = FinalizerChange::of_staying(&self.settings);
        let is_still_due = change.patch(&self.settings, &parent).is_some();
        let paused = self.view().paused_by(&parent);
        self.parent = Some(parent);
        if let Some(by) = paused.filter(|_| is_still_due) {
            // The pause began after the reconcile: without its finalizer the parent gets no children.
            return self.prepare_paused(by);
        }
        if is_due {
            let facts = drift::finalizers_changed(&self.view());
            self.note(facts);
        }
        self.sync()
    }

    /// Reports the failure in the conditions.
    pub(super) fn finalizer_failed(&mut self, error: ApiError) -> Stage {
        self.note([step_failed("the finalizer", error)]);
        self.write_status(None)
    }

    /// The finalizers are up to date.
    fn sync(&mut self) -> Stage {
        self.begin_drift();
        self.read_undecodable(self.snapshot.doubts.undecodable.iter().cloned().collect())
    }

    /// Children that are written again are counted from here on.
    pub(super) fn begin_drift(&mut self) {
        let version = self.parent().resource_version().clone();
        let is_same_parent = self.memory.parent() == Some(&version);
        self.rewrites = Rewrites { is_same_parent, ..Rewrites::default() };
        self.note([Fact::Began(version)]);
    }

    /// Reads the undecodable children live. One that is still undecodable fails the reconcile.
    fn read_undecodable(&mut self, mut left: VecDeque<ChildId>) -> Stage {
        match left.pop_front() {
            Some(child) => {
                self.send(Request::Read(child.clone()));
                Stage::ReadingUndecodable(child, left)
            }
            // The handler must see what was read.
            None if !self.effects.is_empty() => {
                self.effects.push(Effect::Resume);
                Stage::Refreshing
            }
            None => self.handle(),
        }
    }

    pub(super) fn undecodable_child_read(
        &mut self,
        child: &ChildId,
        left: VecDeque<ChildId>,
        answer: Answer,
    ) -> Stage {
        match Reply::object(answer) {
            Ok(Some(live)) => self.cache(Cache::Saw(live)),
            Ok(None) => {}
            Err(error) => self.note([child_failed(child, error)]),
        }
        self.read_undecodable(left)
    }
}
