//! Finalizes a parent: its handler, the children that Kubernetes does not collect, our finalizer.

use super::{
    Answer, HandlerError, Machine, Moment, Purpose, Reply,
    begin::waits_for_the_end,
    child,
    effect::{Cache, Effect},
    parent::{
        collect::{self, Orphans},
        finalizer::{self, FinalizerChange},
        status::Returned,
    },
    stage::{self, Awaited, Stage},
    turn::{step_failed, waits},
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, Held, Pause, PausedBy, Wait},
    object::{K8sType, Object},
    operator::{DesiredChild, FinalizeResponse},
    plan::{self, ChildId, Deletion, WaitingReason},
};

/// A response of `finalize` that contradicts itself.
const DONE_WITH_CHILDREN: &str = "`finalize` is done and returns children, which would be deleted with the \
                                  parent: return `FinalizeResponse::wait()` while they are needed";

impl Machine {
    pub(super) fn finalize(&mut self, at: &Moment<'_>) {
        if self.settings.has_finalizer {
            self.call(Purpose::Finalize, at);
        } else {
            self.collect(Orphans::Stay, at);
        }
    }

    pub(super) fn finalized(&mut self, response: FinalizeResponse, at: &Moment<'_>) {
        self.keep_returned(&response.children);
        let is_done = response.is_done();
        let orphans = if response.deletes_orphans { Orphans::Go } else { Orphans::Stay };
        let FinalizeResponse { status, retry, children, unserializable, .. } = response;
        match unserializable {
            // No status is written for a parent that is released.
            _ if is_done && children.is_empty() => self.collect(orphans, at),
            _ if is_done => self.finalize_refused(Failure::unserializable(DONE_WITH_CHILDREN), at),
            Some(why) => self.finalize_refused(Failure::unserializable(&why), at),
            None => {
                let why = "the handler is still finalizing".to_owned();
                self.note([Fact::ParentWaits(why)], at);
                self.note(retry.map(Fact::Resync), at);
                self.write_finalizing(children, status.map(Returned), at);
            }
        }
    }

    fn finalize_refused(&mut self, failure: Failure, at: &Moment<'_>) {
        self.finalize_failed(HandlerError { failure, status: None }, at);
    }

    /// Writes the children that the clean-up needs, and no others.
    fn write_finalizing(
        &mut self,
        children: Vec<DesiredChild>,
        status: Option<Returned>,
        at: &Moment<'_>,
    ) {
        if children.is_empty() {
            return self.conclude(status, at);
        }
        self.begin_drift(at);
        match self.planned(children.into(), at) {
            Ok(plan) => self.carry_out(plan, status, at),
            Err(refusals) => self.finalize_refused(Failure::Refused(refusals), at),
        }
    }

    pub(super) fn finalize_failed(&mut self, error: HandlerError, at: &Moment<'_>) {
        // Always retried, even a permanent error: the parent cannot be deleted before.
        self.note([Fact::Failed(error.failure.into_passing())], at);
        self.write_status(error.status.map(Returned), at);
    }

    pub(super) fn hold_finalizing(&mut self, by: PausedBy, at: &Moment<'_>) {
        let is_deleting = self.parent.as_ref().is_some_and(Object::is_deleting);
        let what = if is_deleting { "deletion" } else { "release" };
        let held = Held::Finalizing;
        self.note([waits_for_the_end(by, what), Fact::Paused(Pause { by, held })], at);
        self.write_status(None, at);
    }

    /// Deletes the children that Kubernetes does not collect. A parent that only left the selection keeps its
    /// children.
    fn collect(&mut self, orphans: Orphans, at: &Moment<'_>) {
        // The pause may have begun during the call.
        if let Some(by) = self.paused_by_now(at) {
            return self.hold_finalizing(by, at);
        }
        if self.parent.as_ref().is_some_and(|parent| self.settings.takes_leave(parent)) {
            return self.leave(at);
        }
        if !self.parent.as_ref().is_some_and(Object::is_deleting) {
            self.lap(ReconcileStep::Apply, at);
            return self.release(at);
        }
        let lists = self.view(at, |view| collect::lists(orphans, view)).unwrap_or_default();
        self.stage = Stage::Listing(lists.into(), Vec::new(), orphans);
        self.list_next(at);
    }

    fn list_next(&mut self, at: &Moment<'_>) {
        let Stage::Listing(lists, left, _) = &mut self.stage else { return };
        if let Some(list) = lists.pop_front() {
            if let Some(request) = self.view(at, |view| collect::request(&list, view)) {
                self.send(request, Awaited::Listed(list.0));
            }
            return;
        }
        let left = plan::in_deletion_order(std::mem::take(left), self.memory.last_applied());
        self.stage = Stage::Collecting(left.into());
        self.collect_next(at);
    }

    pub(super) fn listed(&mut self, ty: &K8sType, answer: Answer, at: &Moment<'_>) {
        let Stage::Listing(_, _, orphans) = self.stage else { return };
        let listed = Reply::listed(answer);
        let listed = self.view(at, |view| collect::left(ty, listed, orphans, view));
        match listed {
            Some(Ok(found)) => {
                if let Stage::Listing(_, left, _) = &mut self.stage {
                    left.extend(found);
                }
                self.list_next(at);
            }
            Some(Err(error)) => {
                let what = "the children that Kubernetes does not collect";
                self.note([step_failed(what, error)], at);
                self.collected(at);
            }
            None => {}
        }
    }

    /// Deletes the children one by one, and waits for those with finalizers or a grace period.
    pub(super) fn collect_next(&mut self, at: &Moment<'_>) {
        while let Stage::Collecting(left) = &mut self.stage {
            let Some(child) = left.front().cloned() else { return self.collect_others(at) };
            if child.is_deleting() {
                self.collected_child(Some(child), at);
            } else if self.journal.progress().is_throttled {
                self.note([waits(&ChildId::of(&child), Wait::Throttled)], at);
                self.collected_child(None, at);
            } else {
                let task = child::Task::Delete(Deletion::undesired(&child), 1);
                let Some(ended) = self.begin_child(task, at) else { return };
                self.collected_child(ended.left, at);
            }
        }
    }

    /// Handles the end of the first deletion; `left` is the object that it left.
    pub(super) fn collected_child(&mut self, left: Option<Object>, at: &Moment<'_>) {
        let Stage::Collecting(children) = &mut self.stage else { return };
        let Some(child) = children.pop_front() else { return };
        if let Some(left) = left.filter(|it| it.is_deleting() && it.uid() == child.uid()) {
            let why = Wait::Planned(WaitingReason::deleting(&left));
            self.note([waits(&ChildId::of(&left), why)], at);
        }
    }

    fn collect_others(&mut self, at: &Moment<'_>) {
        let progress = self.journal.progress();
        if !progress.waits || progress.is_throttled {
            return self.collected(at);
        }
        let others = self.view(at, collect::others).unwrap_or_default();
        self.stage = Stage::CollectingOthers(others.into());
        self.collect_next_other(at);
    }

    pub(super) fn collect_next_other(&mut self, at: &Moment<'_>) {
        while let Stage::CollectingOthers(others) = &mut self.stage {
            let next = others.pop_front();
            let Some(child) = next.filter(|_| !self.journal.progress().is_throttled) else {
                return self.collected(at);
            };
            let task = child::Task::Delete(Deletion::undesired(&child), 1);
            if self.begin_child(task, at).is_none() {
                return;
            }
        }
    }

    fn collected(&mut self, at: &Moment<'_>) {
        self.lap(ReconcileStep::Apply, at);
        let progress = self.journal.progress();
        if !progress.has_failed() && self.is_alive() && !progress.waits {
            self.release(at);
        } else if self.is_alive() {
            self.write_status(None, at);
        } else {
            self.finish(at);
        }
    }

    pub(super) fn release(&mut self, at: &Moment<'_>) {
        // The pause may have begun during the deletions.
        if let Some(by) = self.paused_by_now(at) {
            return self.hold_finalizing(by, at);
        }
        let Some(parent) = self.parent.clone() else { return };
        self.stage = Stage::Beginning(stage::Purpose::Release);
        let next = self.ask(at, |view| finalizer::begin(FinalizerChange::Remove, parent, view));
        self.finalizer_next(next, at);
    }

    pub(super) fn released(&mut self, reply: Option<Object>, at: &Moment<'_>) {
        self.lap(ReconcileStep::Apply, at);
        if let Some(live) = &reply {
            let by = self.view(at, |view| view.paused_by(live)).flatten();
            if let Some(by) = by.filter(|_| self.settings.holds_ours(live)) {
                // The live read after a conflict found the parent paused.
                self.parent = reply;
                return self.hold_finalizing(by, at);
            }
            if !self.settings.is_leaving(live) && self.settings.holds(live) {
                // The parent is not leaving any more.
                self.parent_is(End::Outdated, at);
                return self.finish(at);
            }
        }
        self.parent_is(End::Finalized, at);
        if let (Some(parent), true) = (&self.parent, reply.is_some_and(|live| live.has_ended())) {
            // The reply has the version before the deletion. Without this the cache keeps our finalizer until
            // the watch event, and the deletion of a child would finalize again.
            let absent = Cache::Absent(ChildId::of(parent), parent.uid().clone());
            self.effects.push(Effect::Cache(absent));
        }
        self.finish(at);
    }
}
