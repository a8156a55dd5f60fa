//! Observes: from the cached parent to what the handler may see.

use std::collections::VecDeque;

use super::{
    Answer, Effect, Reply, Request,
    drift::{self, Drift},
    effect::Cache,
    parent::finalizer::{self, FinalizerChange},
    reconcile::{Moment, Reconcile},
    stage::Stage,
    turn::{child_failed, step_failed, waits_for_the_end},
};
use crate::{
    journal::{End, Fact, Failure, Held, Pause, PausedBy},
    object::Object,
    plan::ChildId,
    reply::ApiError,
};

impl Reconcile {
    pub(super) fn observe(&mut self, at: &Moment<'_>) -> Stage {
        let Some(parent) = at.snapshot.parent(&self.key, &self.uid) else { return self.gone(at) };
        let id = ChildId::of(&parent);
        self.parent = Some(parent);
        if at.snapshot.is_undecodable(&id) {
            // The cached version is outdated.
            self.send(Request::Read(id));
            return Stage::ReadingParent;
        }
        self.prepare_if_available(at)
    }

    pub(super) fn parent_read(&mut self, answer: Answer, at: &Moment<'_>) -> Stage {
        match Reply::object(answer) {
            Ok(live) => {
                self.effects.extend(live.clone().map(|live| Effect::Cache(Cache::Saw(live))));
                match live.filter(|live| *live.uid() == self.uid) {
                    Some(live) => {
                        self.parent = Some(live);
                        self.prepare_if_available(at)
                    }
                    None => self.gone(at),
                }
            }
            Err(error) => {
                self.note([step_failed("the parent", error)], at);
                self.finish(at)
            }
        }
    }

    fn gone(&mut self, at: &Moment<'_>) -> Stage {
        self.parent_is(End::Gone, at);
        self.finish(at)
    }

    /// Does not call the handler while a child type cannot be listed: its children would appear deleted.
    fn prepare_if_available(&mut self, at: &Moment<'_>) -> Stage {
        match at.snapshot.unavailable(&self.key) {
            Some(why) => {
                self.note([Fact::Failed(Failure::Unavailable(why))], at);
                self.write_status(None, at)
            }
            None => self.prepare(at),
        }
    }

    /// Adds or removes our finalizer where needed, and finalizes a parent that is leaving.
    fn prepare(&mut self, at: &Moment<'_>) -> Stage {
        let parent = self.parent().clone();
        if let Some(by) = self.view(at).paused_by(&parent) {
            return self.prepare_paused(by, at);
        }
        let is_leaving = self.settings.is_leaving(&parent);
        let is_held = self.settings.holds_ours(&parent);
        let takes_leave = self.settings.takes_leave(&parent);
        if is_leaving && (is_held || takes_leave) && at.snapshot.may_be_old(&parent) {
            // Finalizing cannot be undone. After the restore of a backup the parent may not be terminating
            // any more, or may be selected again.
            self.send(Request::Read(ChildId::of(&parent)));
            return Stage::ReadingLeavingParent(parent);
        }
        match (is_leaving, is_held) {
            (true, false) if takes_leave => self.leave(at),
            (true, false) => self.finish(at),
            (true, true) => self.finalize_or_release(at),
            (false, _) => self.change_finalizers(at),
        }
    }

    pub(super) fn leaving_parent_read(
        &mut self,
        cached: &Object,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        match Reply::object(answer) {
            // After a restore a version may be used twice: only the content tells them apart.
            Ok(Some(live)) if live == *cached && live.json() == cached.json() => {
                return self.finalize_or_release(at);
            }
            Ok(Some(live)) if live.uid() == cached.uid() => {
                self.effects.push(Effect::Cache(Cache::Saw(live)));
            }
            Ok(_) => {
                let absent = Cache::Absent(ChildId::of(cached), cached.uid().clone());
                self.effects.push(Effect::Cache(absent));
            }
            Err(error) => return self.finalizer_failed(error, at),
        }
        self.parent_is(End::Outdated, at);
        self.finish(at)
    }

    /// Does not change the finalizers of a paused parent, and does not finalize it.
    fn prepare_paused(&mut self, by: PausedBy, at: &Moment<'_>) -> Stage {
        let parent = self.parent().clone();
        self.note([Fact::BeganPaused(by)], at);
        if self.settings.is_leaving(&parent) {
            if self.settings.holds_ours(&parent) || self.settings.takes_leave(&parent) {
                return self.hold_finalizing(by, at);
            }
            return self.finish(at);
        }
        let change = FinalizerChange::of_staying(&self.settings);
        let held = match by {
            PausedBy::Annotation => Some(Held::Undecided),
            PausedBy::Operator => {
                change.patch(&self.settings, &parent).is_some().then_some(Held::Finalizer)
            }
        };
        if held == Some(Held::Finalizer) {
            self.note([waits_for_the_end(by, "finalizer")], at);
        }
        self.note(held.map(|held| Fact::Paused(Pause { by, held })), at);
        self.sync(at)
    }

    /// Changes the finalizers where needed; usually no request is sent.
    fn change_finalizers(&mut self, at: &Moment<'_>) -> Stage {
        let parent = self.parent().clone();
        let change = FinalizerChange::of_staying(&self.settings);
        let is_due = change.patch(&self.settings, &parent).is_some();
        if is_due && let Some(times) = drift::finalizers_delayed(&self.view(at)) {
            self.note([Fact::FinalizersDelayed(times)], at);
            // A parent gets no children before it has the finalizer that it needs.
            let is_bare = self.settings.needs_finalizer && !self.settings.holds(&parent);
            return if is_bare { self.finish(at) } else { self.sync(at) };
        }
        let next = self.ask(at, |view| finalizer::begin(change, parent, view));
        self.changing_finalizer(is_due, next, at)
    }

    pub(super) fn finalizer_answered(
        &mut self,
        is_due: bool,
        state: finalizer::State,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        let next = self.ask(at, |view| finalizer::answered(state, answer, view));
        self.changing_finalizer(is_due, next, at)
    }

    fn changing_finalizer(
        &mut self,
        is_due: bool,
        next: finalizer::Next,
        at: &Moment<'_>,
    ) -> Stage {
        match next {
            finalizer::Next::Ask(request, state) => {
                self.send(request);
                Stage::ChangingFinalizer { is_due, state }
            }
            finalizer::Next::Done(Err(error)) => self.finalizer_failed(error, at),
            finalizer::Next::Done(Ok(parent)) => self.finalizer_changed(parent, is_due, at),
        }
    }

    fn finalizer_changed(
        &mut self,
        parent: Option<Object>,
        is_due: bool,
        at: &Moment<'_>,
    ) -> Stage {
        let Some(parent) = parent.filter(|parent| !self.settings.is_leaving(parent)) else {
            return self.finish(at);
        };
        let change = FinalizerChange::of_staying(&self.settings);
        let is_still_due = change.patch(&self.settings, &parent).is_some();
        let paused = self.view(at).paused_by(&parent);
        self.parent = Some(parent);
        if let Some(by) = paused.filter(|_| is_still_due) {
            // The pause began after the reconcile: without its finalizer the parent gets no children.
            return self.prepare_paused(by, at);
        }
        if is_due {
            let facts = drift::finalizers_changed(&self.view(at));
            self.note(facts, at);
        }
        self.sync(at)
    }

    /// Reports the failure in the conditions.
    pub(super) fn finalizer_failed(&mut self, error: ApiError, at: &Moment<'_>) -> Stage {
        self.note([step_failed("the finalizer", error)], at);
        self.write_status(None, at)
    }

    /// The finalizers are up to date.
    fn sync(&mut self, at: &Moment<'_>) -> Stage {
        self.begin_drift(at);
        let undecodable = at.snapshot.undecodable_children(self.parent());
        let ids = undecodable.iter().filter_map(|object| {
            Some(ChildId { ty: object.ty().clone(), key: object.key()?.clone() })
        });
        self.read_undecodable(ids.collect(), at)
    }

    /// Children that are written again are counted from here on.
    pub(super) fn begin_drift(&mut self, at: &Moment<'_>) {
        let version = self.parent().resource_version().clone();
        self.drift = Drift::begin(self.memory.parent() == Some(&version));
        self.note([Fact::Began(version)], at);
    }

    /// Reads the undecodable children live. One that is still undecodable fails the reconcile.
    fn read_undecodable(&mut self, mut left: VecDeque<ChildId>, at: &Moment<'_>) -> Stage {
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
            None => self.handle(at),
        }
    }

    pub(super) fn undecodable_child_read(
        &mut self,
        child: &ChildId,
        left: VecDeque<ChildId>,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        match Reply::object(answer) {
            Ok(live) => self.effects.extend(live.map(|live| Effect::Cache(Cache::Saw(live)))),
            Err(error) => self.note([child_failed(child, error)], at),
        }
        self.read_undecodable(left, at)
    }
}
