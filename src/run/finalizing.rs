//! Finalizes a parent: its handler, the children that Kubernetes does not collect, our finalizer.

use std::collections::VecDeque;

use super::{
    Answer, HandlerError, Reply, child,
    effect::Cache,
    parent::{
        collect::{self, Orphans},
        finalizer::{self, FinalizerChange, FinalizerNext},
        status::ReturnedStatus,
    },
    reconcile::Reconcile,
    stage::{Listing, Stage},
    turn::{Next, step_failed, waits, waits_for_the_end},
    writing::ChildStep,
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, Held, Pause, PausedBy, Wait},
    object::Object,
    operator::{DesiredChild, FinalizeResponse, checked_events},
    plan::{self, ChildId, Deletion, WaitingReason},
};

/// A response of `finalize` that contradicts itself.
const DONE_WITH_CHILDREN: &str = "`finalize` is done and returns children, which would be deleted with the \
                                  parent: return `FinalizeResponse::wait()` while they are needed";

// === the handler ===

impl Reconcile {
    /// Finalizes a parent, or removes a finalizer that is no longer needed.
    pub(super) fn finalize_or_release(&mut self) -> Stage {
        let takes_leave = self.takes_leave();
        if self.settings.needs_finalizer && self.settings.holds_ours(self.parent()) {
            self.finalize()
        } else if takes_leave {
            self.leave()
        } else {
            // An earlier configuration needed the finalizer.
            self.release()
        }
    }

    fn finalize(&mut self) -> Stage {
        if self.settings.has_finalizer { self.handle() } else { self.collect(Orphans::Stay) }
    }

    pub(super) fn finalized(&mut self, response: FinalizeResponse) -> Stage {
        self.keep_returned(&response.children);
        let is_done = response.is_done();
        let orphans = if response.deletes_orphans { Orphans::Go } else { Orphans::Stay };
        let FinalizeResponse { status, retry, children, events, unserializable, .. } = response;
        let (events, defect) = checked_events(events);
        if let Some(why) = defect {
            return self.finalize_refused(Failure::unserializable(&why));
        }
        self.events_returned(events, false);
        match unserializable {
            // No status is written for a parent that is released.
            _ if is_done && children.is_empty() => self.collect(orphans),
            _ if is_done => self.finalize_refused(Failure::unserializable(DONE_WITH_CHILDREN)),
            Some(why) => self.finalize_refused(Failure::unserializable(&why)),
            None => {
                let why = "the handler is still finalizing".to_owned();
                self.note([Fact::ParentWaits(why)]);
                self.note(retry.map(Fact::Resync));
                self.write_finalizing(children, status.map(ReturnedStatus))
            }
        }
    }

    fn finalize_refused(&mut self, failure: Failure) -> Stage {
        self.finalize_failed(failure.into())
    }

    /// Writes the children that the clean-up needs, and no others.
    fn write_finalizing(
        &mut self,
        children: Vec<DesiredChild>,
        status: Option<ReturnedStatus>,
    ) -> Stage {
        if children.is_empty() {
            return self.conclude(status);
        }
        self.begin_drift();
        match self.planned(children.into()) {
            Ok(plan) => self.carry_out(plan, status),
            Err(refusals) => self.finalize_refused(Failure::Refused(refusals)),
        }
    }

    pub(super) fn finalize_failed(&mut self, error: HandlerError) -> Stage {
        self.events_returned(error.events, true);
        // Always retried, even a permanent error: the parent cannot be deleted before.
        self.note([Fact::Failed(error.failure.into_passing())]);
        self.write_status(error.status.map(ReturnedStatus))
    }

    pub(super) fn hold_finalizing(&mut self, by: PausedBy) -> Stage {
        let what = if self.parent().is_deleting() { "deletion" } else { "release" };
        let held = Held::Finalizing;
        self.note([waits_for_the_end(by, what), Fact::Paused(Pause { by, held })]);
        self.write_status(None)
    }
}

// === the children ===

impl Reconcile {
    /// Deletes the children that Kubernetes does not collect. A parent that only left the selection keeps its
    /// children.
    fn collect(&mut self, orphans: Orphans) -> Stage {
        // The pause may have begun during the call.
        if let Some(by) = self.paused_by_now() {
            return self.hold_finalizing(by);
        }
        if self.takes_leave() {
            return self.leave();
        }
        if !self.parent().is_deleting() {
            self.lap(ReconcileStep::Apply);
            return self.release();
        }
        let left = collect::lists(orphans, &self.view()).into();
        self.list_next(orphans, left, Vec::new())
    }

    fn list_next(
        &mut self,
        orphans: Orphans,
        mut left: VecDeque<collect::List>,
        found: Vec<Object>,
    ) -> Stage {
        let Some(list) = left.pop_front() else {
            let found = plan::in_deletion_order(found, self.memory.last_applied());
            return self.collect_next(found.into());
        };
        let request = collect::request(&list, &self.view());
        self.send(request);
        Stage::Listing(Box::new(Listing { orphans, ty: list.0, left, found }))
    }

    pub(super) fn listed(&mut self, listing: Listing, answer: Answer) -> Stage {
        let Listing { orphans, ty, left, mut found } = listing;
        match collect::left(&ty, Reply::listed(answer), orphans, &self.view()) {
            Ok(more) => {
                found.extend(more);
                self.list_next(orphans, left, found)
            }
            Err(error) => {
                let what = "the children that Kubernetes does not collect";
                self.note([step_failed(what, error)]);
                self.collected()
            }
        }
    }

    /// Deletes the children one by one, and waits for the terminating ones.
    fn collect_next(&mut self, mut left: VecDeque<Object>) -> Stage {
        while let Some(child) = left.pop_front() {
            if child.is_deleting() {
                self.wait_for(&child, Some(&child));
            } else if self.journal.progress().is_throttled {
                self.note([waits(&ChildId::of(&child), Wait::Throttled)]);
            } else {
                match self.delete_undesired(&child) {
                    ChildStep::Asked(_, state) => return Stage::Collecting(child, state, left),
                    ChildStep::Ended { left, .. } => self.wait_for(&child, left.as_ref()),
                }
            }
        }
        self.collect_others()
    }

    fn delete_undesired(&mut self, child: &Object) -> ChildStep {
        self.begin_child(child::Task::Delete(Deletion::undesired(child), 1))
    }

    pub(super) fn collecting_answered(
        &mut self,
        child: Object,
        state: child::AwaitedChild,
        left: VecDeque<Object>,
        answer: Answer,
    ) -> Stage {
        match self.child_answered(state, answer) {
            ChildStep::Asked(_, state) => return Stage::Collecting(child, state, left),
            ChildStep::Ended { left, .. } => self.wait_for(&child, left.as_ref()),
        }
        self.collect_next(left)
    }

    /// The parent waits for a child that was deleted, if it has `left` a terminating object.
    fn wait_for(&mut self, child: &Object, left: Option<&Object>) {
        if let Some(left) = left.filter(|it| it.is_deleting() && it.uid() == child.uid()) {
            let why = Wait::Planned(WaitingReason::deleting(left));
            self.note([waits(&ChildId::of(left), why)]);
        }
    }

    fn collect_others(&mut self) -> Stage {
        if !self.journal.progress().waits {
            return self.collected();
        }
        let others = collect::others(&self.view());
        self.collect_next_other(others.into())
    }

    fn collect_next_other(&mut self, mut left: VecDeque<Object>) -> Stage {
        while !self.journal.progress().is_throttled {
            let Some(child) = left.pop_front() else { break };
            if let ChildStep::Asked(_, state) = self.delete_undesired(&child) {
                return Stage::CollectingOthers(state, left);
            }
        }
        self.collected()
    }

    pub(super) fn collecting_other_answered(
        &mut self,
        state: child::AwaitedChild,
        left: VecDeque<Object>,
        answer: Answer,
    ) -> Stage {
        match self.child_answered(state, answer) {
            ChildStep::Asked(_, state) => Stage::CollectingOthers(state, left),
            ChildStep::Ended { .. } => self.collect_next_other(left),
        }
    }

    fn collected(&mut self) -> Stage {
        self.lap(ReconcileStep::Apply);
        let progress = self.journal.progress();
        if !progress.has_failed() && self.is_alive() && !progress.waits {
            self.release()
        } else if self.is_alive() {
            self.write_status(None)
        } else {
            self.finish()
        }
    }
}

// === our finalizer ===

impl Reconcile {
    pub(super) fn release(&mut self) -> Stage {
        // The pause may have begun during the deletions.
        if let Some(by) = self.paused_by_now() {
            return self.hold_finalizing(by);
        }
        let parent = self.parent().clone();
        let next = self.ask(|view| finalizer::begin(FinalizerChange::Remove, parent, view));
        self.releasing(next)
    }

    pub(super) fn release_answered(
        &mut self,
        state: finalizer::AwaitedFinalizer,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| finalizer::answered(state, answer, view));
        self.releasing(next)
    }

    fn releasing(&mut self, next: FinalizerNext) -> Stage {
        match next {
            Next::Ask(request, state) => {
                self.send(request);
                Stage::Releasing(state)
            }
            Next::Done(Err(error)) => self.finalizer_failed(error),
            Next::Done(Ok(reply)) => self.released(reply),
        }
    }

    fn released(&mut self, reply: Option<Object>) -> Stage {
        self.lap(ReconcileStep::Apply);
        if let Some(live) = &reply {
            let by = self.view().paused_by(live);
            if let Some(by) = by.filter(|_| self.settings.holds_ours(live)) {
                // The live read after a conflict found the parent paused.
                self.parent = reply;
                return self.hold_finalizing(by);
            }
            if !self.settings.is_leaving(live) && self.settings.holds(live) {
                // The parent is not leaving any more.
                self.parent_is(End::Outdated);
                return self.finish();
            }
        }
        self.parent_is(End::Finalized);
        if reply.is_some_and(|live| live.has_ended()) {
            // The reply has the version before the deletion. Without this the cache keeps our finalizer until
            // the watch event, and the deletion of a child would finalize again.
            let absent = Cache::Absent(ChildId::of(self.parent()), self.uid.clone());
            self.cache(absent);
        }
        self.finish()
    }
}
