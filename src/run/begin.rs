//! From the snapshot of the parent to the call of the handler.

use std::collections::VecDeque;

use super::{
    Answer, Effect, Machine, Moment, Purpose, Reply, Request,
    drift::{self, Drift},
    effect::Cache,
    parent::finalizer::{self, FinalizerChange},
    stage::{self, Awaited, Stage},
    turn::{child_failed, step_failed},
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, Held, Pause, PausedBy},
    object::Object,
    operator::SyncRequest,
    plan::ChildId,
    reply::ApiError,
};

impl Machine {
    pub(super) fn started(&mut self, at: &Moment<'_>) {
        let Some(parent) = at.snapshot.parent(&self.key, &self.uid) else { return self.gone(at) };
        let id = ChildId::of(&parent);
        self.parent = Some(parent);
        if at.snapshot.is_undecodable(&id) {
            // The cached version is outdated.
            return self.send(Request::Read(id), Awaited::Parent);
        }
        self.prepare_if_available(at);
    }

    pub(super) fn parent_read(&mut self, answer: Answer, at: &Moment<'_>) {
        match Reply::object(answer) {
            Ok(live) => {
                self.effects.extend(live.clone().map(|live| Effect::Cache(Cache::Saw(live))));
                match live.filter(|live| *live.uid() == self.uid) {
                    Some(live) => {
                        self.parent = Some(live);
                        self.prepare_if_available(at);
                    }
                    None => self.gone(at),
                }
            }
            Err(error) => {
                self.note([step_failed("the parent", error)], at);
                self.finish(at);
            }
        }
    }

    fn gone(&mut self, at: &Moment<'_>) {
        self.parent_is(End::Gone, at);
        self.finish(at);
    }

    /// Does not call the handler while a child type cannot be listed: its children would appear deleted.
    fn prepare_if_available(&mut self, at: &Moment<'_>) {
        match at.snapshot.unavailable(&self.key) {
            Some(why) => {
                self.note([Fact::Failed(Failure::Unavailable(why))], at);
                self.write_status(None, at);
            }
            None => self.prepare(at),
        }
    }

    /// Adds or removes our finalizer where needed, and finalizes a parent that is leaving.
    fn prepare(&mut self, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        if let Some(Some(by)) = self.view(at, |view| view.paused_by(&parent)) {
            return self.prepare_paused(by, at);
        }
        let is_leaving = self.settings.is_leaving(&parent);
        let is_held = self.settings.holds_ours(&parent);
        let takes_leave = self.settings.takes_leave(&parent);
        if is_leaving && (is_held || takes_leave) && at.snapshot.may_be_old(&parent) {
            // Finalizing cannot be undone. After the restore of a backup the parent may not be terminating
            // any more, or may be selected again.
            let request = Request::Read(ChildId::of(&parent));
            return self.send(request, Awaited::Leaving(parent));
        }
        match (is_leaving, is_held) {
            (true, false) if takes_leave => self.leave(at),
            (true, false) => self.finish(at),
            (true, true) => self.finalize_or_release(at),
            (false, _) => self.change_finalizers(at),
        }
    }

    pub(super) fn leaving_parent_read(&mut self, parent: &Object, answer: Answer, at: &Moment<'_>) {
        match Reply::object(answer) {
            // After a restore a version may be used twice: only the content tells them apart.
            Ok(Some(live)) if live == *parent && live.json() == parent.json() => {
                return self.finalize_or_release(at);
            }
            Ok(Some(live)) if live.uid() == parent.uid() => {
                self.effects.push(Effect::Cache(Cache::Saw(live)));
            }
            Ok(_) => {
                let absent = Cache::Absent(ChildId::of(parent), parent.uid().clone());
                self.effects.push(Effect::Cache(absent));
            }
            Err(error) => return self.finalizer_failed(error, at),
        }
        self.parent_is(End::Outdated, at);
        self.finish(at);
    }

    /// Finalizes a parent, or removes a finalizer that is no longer needed.
    fn finalize_or_release(&mut self, at: &Moment<'_>) {
        let takes_leave = self.parent.as_ref().is_some_and(|it| self.settings.takes_leave(it));
        if self.settings.needs_finalizer
            && self.parent.as_ref().is_some_and(|it| self.settings.holds_ours(it))
        {
            self.finalize(at);
        } else if takes_leave {
            self.leave(at);
        } else {
            // An earlier configuration needed the finalizer.
            self.release(at);
        }
    }

    /// Does not change the finalizers of a paused parent, and does not finalize it.
    pub(super) fn prepare_paused(&mut self, by: PausedBy, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
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
        self.sync(at);
    }

    /// Changes the finalizers where needed; usually no request is sent.
    fn change_finalizers(&mut self, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        let change = FinalizerChange::of_staying(&self.settings);
        let is_due = change.patch(&self.settings, &parent).is_some();
        if is_due && let Some(Some(times)) = self.view(at, drift::finalizers_delayed) {
            self.note([Fact::FinalizersDelayed(times)], at);
            // A parent gets no children before it has the finalizer that it needs.
            let is_bare = self.settings.needs_finalizer && !self.settings.holds(&parent);
            return if is_bare { self.finish(at) } else { self.sync(at) };
        }
        self.stage = Stage::Beginning(stage::Purpose::Sync { is_due });
        let next = self.ask(at, |view| finalizer::begin(change, parent, view));
        self.finalizer_next(next, at);
    }

    pub(super) fn finalizer_next(&mut self, next: Option<finalizer::Next>, at: &Moment<'_>) {
        let purpose = match &self.stage {
            Stage::Beginning(purpose) => *purpose,
            _ => stage::Purpose::Release,
        };
        match (next, purpose) {
            (Some(finalizer::Next::Ask(request, state)), _) => {
                self.send(request, Awaited::Finalizer(state));
            }
            (Some(finalizer::Next::Done(Err(error))), _) => self.finalizer_failed(error, at),
            (Some(finalizer::Next::Done(Ok(parent))), stage::Purpose::Sync { is_due }) => {
                self.finalizer_changed(parent, is_due, at);
            }
            (Some(finalizer::Next::Done(Ok(parent))), stage::Purpose::Release) => {
                self.released(parent, at);
            }
            (None, _) => {}
        }
    }

    fn finalizer_changed(&mut self, parent: Option<Object>, is_due: bool, at: &Moment<'_>) {
        let Some(parent) = parent.filter(|parent| !self.settings.is_leaving(parent)) else {
            return self.finish(at);
        };
        let change = FinalizerChange::of_staying(&self.settings);
        let is_still_due = change.patch(&self.settings, &parent).is_some();
        let paused = self.view(at, |view| view.paused_by(&parent)).flatten();
        let seen = self.parent.replace(parent);
        if let Some(by) = paused.filter(|_| is_still_due) {
            // The pause began after the reconcile: without its finalizer the parent gets no children.
            return self.prepare_paused(by, at);
        }
        drop(seen);
        if is_due {
            let facts = self.view(at, drift::finalizers_changed).unwrap_or_default();
            self.note(facts, at);
        }
        self.sync(at);
    }

    /// Reports the failure in the conditions.
    pub(super) fn finalizer_failed(&mut self, error: ApiError, at: &Moment<'_>) {
        self.note([step_failed("the finalizer", error)], at);
        self.write_status(None, at);
    }

    /// The finalizers are up to date.
    fn sync(&mut self, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        self.begin_drift(at);
        let undecodable = at.snapshot.undecodable_children(&parent);
        let ids = undecodable.iter().filter_map(|object| {
            Some(ChildId { ty: object.ty().clone(), key: object.key()?.clone() })
        });
        self.read_undecodable(ids.collect(), at);
    }

    /// Children that are written again are counted from here on.
    pub(super) fn begin_drift(&mut self, at: &Moment<'_>) {
        let Some(parent) = &self.parent else { return };
        let version = parent.resource_version().clone();
        self.drift = Drift::begin(self.memory.parent() == Some(&version));
        self.note([Fact::Began(version)], at);
    }

    /// Reads the undecodable children live. One that is still undecodable fails the reconcile.
    fn read_undecodable(&mut self, mut left: VecDeque<ChildId>, at: &Moment<'_>) {
        match left.pop_front() {
            Some(child) => {
                self.stage = Stage::Undecodable(left);
                self.send(Request::Read(child.clone()), Awaited::UndecodableChild(child));
            }
            // The handler must see what was read.
            None if !self.effects.is_empty() => self.effects.push(Effect::Resume),
            None => self.call(Purpose::Sync, at),
        }
    }

    pub(super) fn undecodable_child_read(
        &mut self,
        child: &ChildId,
        answer: Answer,
        at: &Moment<'_>,
    ) {
        match Reply::object(answer) {
            Ok(live) => self.effects.extend(live.map(|live| Effect::Cache(Cache::Saw(live)))),
            Err(error) => self.note([child_failed(child, error)], at),
        }
        if let Stage::Undecodable(left) = std::mem::replace(&mut self.stage, Stage::Fresh) {
            self.read_undecodable(left, at);
        }
    }

    pub(super) fn call(&mut self, purpose: Purpose, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        if self.lacks_related() {
            return self.call_related(parent);
        }
        self.observed = self.view(at, |view| view.snapshot.observed(&parent)).unwrap_or_default();
        let children = self.view(at, |view| view.ours(&self.observed)).unwrap_or_default();
        self.lap(ReconcileStep::Snapshot, at);
        let request = SyncRequest::new(parent.clone(), children)
            .with_failures(self.memory.handler_failures.of(&parent))
            .relating(self.related.clone())
            .at(at.now.wall)
            .as_preview(self.preview.is_some());
        self.stage = Stage::Called(stage::Call::default());
        self.effects.push(Effect::Call(purpose, request));
    }
}

/// A step of the parent itself waits for the end of a pause.
pub(super) fn waits_for_the_end(by: PausedBy, what: &str) -> Fact {
    Fact::ParentWaits(format!("its {what} waits until the {} is no longer paused", by.name()))
}
