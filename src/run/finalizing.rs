//! Finalizes a parent: its handler, the children that Kubernetes does not collect, our finalizer.

use std::collections::VecDeque;

use super::{
    Answer, HandlerError, Reply, child,
    effect::{Cache, Effect},
    parent::{
        collect::{self, Orphans},
        finalizer::{self, FinalizerChange},
        status::Returned,
    },
    reconcile::{Moment, Reconcile},
    stage::{Listing, Stage},
    turn::{step_failed, waits, waits_for_the_end},
    writing::ChildStep,
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, Held, Pause, PausedBy, Wait},
    object::Object,
    operator::{DesiredChild, FinalizeResponse},
    plan::{self, ChildId, Deletion, WaitingReason},
};

/// A response of `finalize` that contradicts itself.
const DONE_WITH_CHILDREN: &str = "`finalize` is done and returns children, which would be deleted with the \
                                  parent: return `FinalizeResponse::wait()` while they are needed";

// === the handler ===

impl Reconcile {
    /// Finalizes a parent, or removes a finalizer that is no longer needed.
    pub(super) fn finalize_or_release(&mut self, at: &Moment<'_>) -> Stage {
        let takes_leave = self.takes_leave();
        if self.settings.needs_finalizer && self.settings.holds_ours(self.parent()) {
            self.finalize(at)
        } else if takes_leave {
            self.leave(at)
        } else {
            // An earlier configuration needed the finalizer.
            self.release(at)
        }
    }

    fn finalize(&mut self, at: &Moment<'_>) -> Stage {
        if self.settings.has_finalizer { self.handle(at) } else { self.collect(Orphans::Stay, at) }
    }

    pub(super) fn finalized(&mut self, response: FinalizeResponse, at: &Moment<'_>) -> Stage {
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
                self.write_finalizing(children, status.map(Returned), at)
            }
        }
    }

    fn finalize_refused(&mut self, failure: Failure, at: &Moment<'_>) -> Stage {
        self.finalize_failed(HandlerError { failure, status: None }, at)
    }

    /// Writes the children that the clean-up needs, and no others.
    fn write_finalizing(
        &mut self,
        children: Vec<DesiredChild>,
        status: Option<Returned>,
        at: &Moment<'_>,
    ) -> Stage {
        if children.is_empty() {
            return self.conclude(status, at);
        }
        self.begin_drift(at);
        match self.planned(children.into(), at) {
            Ok(plan) => self.carry_out(plan, status, at),
            Err(refusals) => self.finalize_refused(Failure::Refused(refusals), at),
        }
    }

    pub(super) fn finalize_failed(&mut self, error: HandlerError, at: &Moment<'_>) -> Stage {
        // Always retried, even a permanent error: the parent cannot be deleted before.
        self.note([Fact::Failed(error.failure.into_passing())], at);
        self.write_status(error.status.map(Returned), at)
    }

    pub(super) fn hold_finalizing(&mut self, by: PausedBy, at: &Moment<'_>) -> Stage {
        let what = if self.parent().is_deleting() { "deletion" } else { "release" };
        let held = Held::Finalizing;
        self.note([waits_for_the_end(by, what), Fact::Paused(Pause { by, held })], at);
        self.write_status(None, at)
    }
}

// === the children ===

impl Reconcile {
    /// Deletes the children that Kubernetes does not collect. A parent that only left the selection keeps its
    /// children.
    fn collect(&mut self, orphans: Orphans, at: &Moment<'_>) -> Stage {
        // The pause may have begun during the call.
        if let Some(by) = self.paused_by_now(at) {
            return self.hold_finalizing(by, at);
        }
        if self.takes_leave() {
            return self.leave(at);
        }
        if !self.parent().is_deleting() {
            self.lap(ReconcileStep::Apply, at);
            return self.release(at);
        }
        let left = collect::lists(orphans, &self.view(at)).into();
        self.list_next(orphans, left, Vec::new(), at)
    }

    fn list_next(
        &mut self,
        orphans: Orphans,
        mut left: VecDeque<collect::List>,
        found: Vec<Object>,
        at: &Moment<'_>,
    ) -> Stage {
        let Some(list) = left.pop_front() else {
            let found = plan::in_deletion_order(found, self.memory.last_applied());
            return self.collect_next(found.into(), at);
        };
        let request = collect::request(&list, &self.view(at));
        self.send(request);
        Stage::Listing(Box::new(Listing { orphans, ty: list.0, left, found }))
    }

    pub(super) fn listed(
        &mut self,
        listing: Box<Listing>,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        let Listing { orphans, ty, left, mut found } = *listing;
        match collect::left(&ty, Reply::listed(answer), orphans, &self.view(at)) {
            Ok(more) => {
                found.extend(more);
                self.list_next(orphans, left, found, at)
            }
            Err(error) => {
                let what = "the children that Kubernetes does not collect";
                self.note([step_failed(what, error)], at);
                self.collected(at)
            }
        }
    }

    /// Deletes the children one by one, and waits for those with finalizers or a grace period.
    fn collect_next(&mut self, mut left: VecDeque<Object>, at: &Moment<'_>) -> Stage {
        while let Some(child) = left.pop_front() {
            if child.is_deleting() {
                self.wait_for(&child, Some(&child), at);
                continue;
            }
            if self.journal.progress().is_throttled {
                self.note([waits(&ChildId::of(&child), Wait::Throttled)], at);
                continue;
            }
            match self.delete_undesired(&child, at) {
                ChildStep::Asked(_, state) => return Stage::Collecting(child, state, left),
                ChildStep::Ended(ended) => self.wait_for(&child, ended.left.as_ref(), at),
            }
        }
        self.collect_others(at)
    }

    fn delete_undesired(&mut self, child: &Object, at: &Moment<'_>) -> ChildStep {
        self.begin_child(child::Task::Delete(Deletion::undesired(child), 1), at)
    }

    pub(super) fn collecting_answered(
        &mut self,
        child: &Object,
        state: child::State,
        left: VecDeque<Object>,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        match self.child_answered(state, answer, at) {
            ChildStep::Asked(_, state) => Stage::Collecting(child.clone(), state, left),
            ChildStep::Ended(ended) => {
                self.wait_for(child, ended.left.as_ref(), at);
                self.collect_next(left, at)
            }
        }
    }

    /// The parent waits for a child that was deleted, if it has `left` a terminating object.
    fn wait_for(&mut self, child: &Object, left: Option<&Object>, at: &Moment<'_>) {
        if let Some(left) = left.filter(|it| it.is_deleting() && it.uid() == child.uid()) {
            let why = Wait::Planned(WaitingReason::deleting(left));
            self.note([waits(&ChildId::of(left), why)], at);
        }
    }

    fn collect_others(&mut self, at: &Moment<'_>) -> Stage {
        let progress = self.journal.progress();
        if !progress.waits || progress.is_throttled {
            return self.collected(at);
        }
        let others = collect::others(&self.view(at));
        self.collect_next_other(others.into(), at)
    }

    fn collect_next_other(&mut self, mut left: VecDeque<Object>, at: &Moment<'_>) -> Stage {
        while !self.journal.progress().is_throttled {
            let Some(child) = left.pop_front() else { break };
            if let ChildStep::Asked(_, state) = self.delete_undesired(&child, at) {
                return Stage::CollectingOthers(state, left);
            }
        }
        self.collected(at)
    }

    pub(super) fn collecting_other_answered(
        &mut self,
        state: child::State,
        left: VecDeque<Object>,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        match self.child_answered(state, answer, at) {
            ChildStep::Asked(_, state) => Stage::CollectingOthers(state, left),
            ChildStep::Ended(_) => self.collect_next_other(left, at),
        }
    }

    fn collected(&mut self, at: &Moment<'_>) -> Stage {
        self.lap(ReconcileStep::Apply, at);
        let progress = self.journal.progress();
        if !progress.has_failed() && self.is_alive() && !progress.waits {
            self.release(at)
        } else if self.is_alive() {
            self.write_status(None, at)
        } else {
            self.finish(at)
        }
    }
}

// === our finalizer ===

impl Reconcile {
    pub(super) fn release(&mut self, at: &Moment<'_>) -> Stage {
        // The pause may have begun during the deletions.
        if let Some(by) = self.paused_by_now(at) {
            return self.hold_finalizing(by, at);
        }
        let parent = self.parent().clone();
        let next = self.ask(at, |view| finalizer::begin(FinalizerChange::Remove, parent, view));
        self.releasing(next, at)
    }

    pub(super) fn release_answered(
        &mut self,
        state: finalizer::State,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        let next = self.ask(at, |view| finalizer::answered(state, answer, view));
        self.releasing(next, at)
    }

    fn releasing(&mut self, next: finalizer::Next, at: &Moment<'_>) -> Stage {
        match next {
            finalizer::Next::Ask(request, state) => {
                self.send(request);
                Stage::Releasing(state)
            }
            finalizer::Next::Done(Err(error)) => self.finalizer_failed(error, at),
            finalizer::Next::Done(Ok(reply)) => self.released(reply, at),
        }
    }

    fn released(&mut self, reply: Option<Object>, at: &Moment<'_>) -> Stage {
        self.lap(ReconcileStep::Apply, at);
        if let Some(live) = &reply {
            let by = self.view(at).paused_by(live);
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
        if reply.is_some_and(|live| live.has_ended()) {
            // The reply has the version before the deletion. Without this the cache keeps our finalizer until
            // the watch event, and the deletion of a child would finalize again.
            let absent = Cache::Absent(ChildId::of(self.parent()), self.uid.clone());
            self.effects.push(Effect::Cache(absent));
        }
        self.finish(at)
    }
}
