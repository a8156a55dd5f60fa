//! From a plan to its end: dry runs and looks, then writes that are sent together, then deletions, one after
//! the other. A failure with one child does not keep the others from theirs.

mod writes;

use super::{
    Answer, Effect, Machine, Moment, Reply, Request, drift,
    guard::{
        as_planned,
        deletion_guard::{Judgement, judged},
        terminating,
    },
    parent::status::Returned,
    request::Force,
    stage::{Awaited, CarryOut, Phase, Stage},
    turn::{child_failed, held_step, step_failed, waits},
};
use crate::{
    diff::{same_owned_fields},
    history::ReconcileStep,
    journal::{Fact, Held, Pause, PausedBy, Wait},
    object::Object,
    plan::{ChildId, DeletionGuard, Exceeded, Reservation, Settled, Step, Waiting, WaitingReason, Write},
    reply::{ApiError, ErrorClass},
};

impl Machine {
    // === before anything is written ===

    /// Children that change only when somebody deletes them, and whether those that look different are:
    /// an admission policy may have changed what was applied. Asked by a dry run, once for each desired
    /// state and state of a child.
    pub(in crate::run) fn try_doubtful(&mut self, at: &Moment<'_>) {
        while let Some(write) = self.next_doubtful() {
            if let Some(Some(live)) = self.view(at, |view| view.snapshot.cached(&write.id)) {
                let request = Request::trial(&write.id, &write.body, Force::Yes);
                return self.send(request, Awaited::Doubtful(write, live));
            }
        }
        self.take_waiting(at);
    }

    fn next_doubtful(&mut self) -> Option<Write> {
        match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Doubtful(left), .. }) => left.pop_front(),
            _ => None,
        }
    }

    pub(in crate::run) fn doubtful_tried(
        &mut self,
        write: &Write,
        live: &Object,
        answer: Answer,
        at: &Moment<'_>,
    ) {
        let name = self.settings.name();
        let known = || Settled::new(write, live, name);
        match Reply::written(answer) {
            Ok(reply) if same_owned_fields(live, &reply, name) => {
                let facts = [Fact::Explained(known()), Fact::UpToDate(write.id.clone())];
                self.stop_waiting_for(&write.id);
                self.note(facts, at);
            }
            Ok(_) => self.note([Fact::Differs(known())], at),
            // Who may not ask, by a rule of the server or of its admission, learns no more by asking again.
            Err(error)
                if matches!(error.class(), ErrorClass::Permanent | ErrorClass::Forbidden) =>
            {
                self.note([Fact::Differs(known())], at);
            }
            Err(error) => {
                self.stop_waiting_for(&write.id);
                self.note([doubted(&write.id, error)], at);
                return self.take_waiting(at);
            }
        }
        self.try_doubtful(at);
    }

    fn stop_waiting_for(&mut self, child: &ChildId) {
        if let Stage::CarryingOut(plan) = &mut self.stage {
            plan.waiting.retain(|waiting| waiting.id != *child);
        }
    }

    fn take_waiting(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = &self.stage else { return };
        let waiting = plan.waiting.clone();
        let wait = |Waiting { id, why }: &Waiting| waits(id, Wait::Planned(why.clone()));
        let (paused, replacing) = (plan.paused, plan.replacing.clone());
        self.note(waiting.iter().map(wait), at);
        if let Some(by) = paused {
            return self.hold(by, at);
        }
        let (overdue, fact) = self
            .view(at, |view| terminating::overdue(view, &waiting, &replacing))
            .unwrap_or_default();
        self.note(fact, at);
        self.set_phase(Phase::TerminatingChildren(overdue.into()));
        self.look_at_terminating(at);
    }

    /// Says what a plan would do, and the state of the children of which it does nothing.
    fn hold(&mut self, by: PausedBy, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = std::mem::replace(&mut self.stage, Stage::Saying) else {
            return;
        };
        let CarryOut { status, steps, waiting, existing, .. } = plan;
        // The end of the pause judges what is to go; that nothing is can be said at once.
        let may_go = |waiting: &Waiting| waiting.why == WaitingReason::TypeNotSynced;
        if steps.iter().all(|step| step.final_deletion().is_none()) && !waiting.iter().any(may_go) {
            self.note([Fact::Judged { deletion_guard: DeletionGuard::default(), held: None }], at);
        }
        self.note([Fact::WritesHeld(existing)], at);
        self.note([Fact::Paused(Pause { by, held: Held::Writes(0) })], at);
        for step in &steps {
            let facts = held_step(step, by, self.journal.progress().held_writes());
            self.note(facts, at);
        }
        self.lap(ReconcileStep::Apply, at);
        self.conclude(status, at);
    }

    fn look_at_terminating(&mut self, at: &Moment<'_>) {
        let is_throttled = self.journal.progress().is_throttled();
        let child = match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::TerminatingChildren(left), .. }) => {
                left.pop_front()
            }
            _ => None,
        };
        match child.filter(|_| !is_throttled) {
            Some(child) => {
                self.send(Request::Read(ChildId::of(&child)), Awaited::TerminatingChildren(child));
            }
            None => self.look_at_parent(at),
        }
    }

    pub(in crate::run) fn terminating_looked_at(
        &mut self,
        child: &Object,
        answer: Answer,
        at: &Moment<'_>,
    ) {
        match Reply::object(answer) {
            Ok(live) => {
                let cache = terminating::seen(child, live);
                self.effects.extend(cache.into_iter().map(Effect::Cache));
            }
            Err(error) => self.note([child_failed(&ChildId::of(child), error)], at),
        }
        self.look_at_terminating(at);
    }

    /// A child that is to be created and was there before may be missing because its parent goes.
    fn look_at_parent(&mut self, at: &Moment<'_>) {
        let (Stage::CarryingOut(plan), Some(parent)) = (&self.stage, &self.parent) else { return };
        let creates = plan.steps.iter().any(|step| matches!(step, Step::Create(_)));
        let had_children = self.memory.had_children() || parent.field("status").is_some();
        if !creates || !had_children {
            return self.judge_deletions(None, at);
        }
        let request = Request::Read(ChildId::of(parent));
        self.set_phase(Phase::MayCreate);
        self.send(request, Awaited::MayCreate);
    }

    pub(in crate::run) fn may_create_looked_at(&mut self, answer: Answer, at: &Moment<'_>) {
        let is_as_planned = match Reply::object(answer) {
            Ok(live) => self.ask(at, |view| as_planned::judge(view, live)).unwrap_or_default(),
            Err(error) => {
                self.note([step_failed("the parent", error)], at);
                false
            }
        };
        if is_as_planned {
            return self.judge_deletions(None, at);
        }
        self.lap(ReconcileStep::Apply, at);
        let status = self.status_of_plan();
        self.conclude(status, at);
    }

    fn judge_deletions(
        &mut self,
        reserved: Option<Result<Reservation, Exceeded>>,
        at: &Moment<'_>,
    ) {
        let Stage::CarryingOut(plan) = &self.stage else { return };
        let is_part = plan.waiting.iter().any(|it| it.why == WaitingReason::TypeNotSynced);
        let (existing, answer) = (plan.existing, reserved.map(|it| it.map(drop)));
        let judgement =
            self.view(at, |view| judged(view, &plan.steps, (existing, is_part), answer));
        match judgement {
            Some(Judgement::Reserve(allowance, deletions)) => {
                self.set_phase(Phase::Reserving);
                self.effects.push(Effect::Reserve(allowance, deletions));
            }
            Some(Judgement::Free(fact)) => {
                self.note(fact, at);
                if let Stage::CarryingOut(plan) = &mut self.stage {
                    plan.taken = reserved.and_then(Result::ok);
                }
                self.write(at);
            }
            Some(Judgement::Held(fact)) => {
                self.note([fact], at);
                if let Stage::CarryingOut(plan) = &mut self.stage {
                    plan.steps.retain(|step| step.final_deletion().is_none());
                }
                self.write(at);
            }
            None => {}
        }
    }

    pub(in crate::run) fn reserved(
        &mut self,
        reserved: Result<Reservation, Exceeded>,
        at: &Moment<'_>,
    ) {
        self.judge_deletions(Some(reserved), at);
    }

    // === the end ===

    fn end_writes(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = std::mem::replace(&mut self.stage, Stage::Saying) else {
            return;
        };
        let CarryOut { status, existing, replacing, taken, .. } = plan;
        if !self.journal.progress().is_throttled() {
            self.memory.forget_throttled();
        }
        if let Some(taken) = taken {
            self.effects.push(Effect::Release(taken, self.journal.progress().deleted()));
        }
        let unknown = self.view(at, |view| {
            // A parent that may be old keeps all its children.
            if view.snapshot.may_be_old(view.parent) {
                return [view.parent.ty().clone()].into();
            }
            view.snapshot.unsynced(view.parent)
        });
        self.note([Fact::WritesEnded { existing, unknown: unknown.unwrap_or_default() }], at);
        let facts = self.view(at, |view| drift::count(view, !replacing.is_empty()));
        self.note(facts.unwrap_or_default(), at);
        self.lap(ReconcileStep::Apply, at);
        self.conclude(status, at);
    }

    fn status_of_plan(&mut self) -> Option<Returned> {
        match &mut self.stage {
            Stage::CarryingOut(plan) => plan.status.take(),
            _ => None,
        }
    }

    fn set_phase(&mut self, phase: Phase) {
        if let Stage::CarryingOut(plan) = &mut self.stage {
            plan.phase = phase;
        }
    }
}

/// What the server cannot tell now is asked again soon.
fn doubted(child: &ChildId, error: ApiError) -> Fact {
    if error.is_throttling() {
        return child_failed(child, error);
    }
    waits(child, Wait::Others("it looks different, and the server cannot tell yet whether it is"))
}
