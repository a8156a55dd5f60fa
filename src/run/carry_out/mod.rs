//! Carries out a plan: dry runs and live reads, then writes that are sent together, then deletions one by
//! one. The failure of one child does not stop the others.

mod turns;
mod writes;

use std::collections::BTreeSet;

use super::{
    Answer, Effect, Machine, Moment, Reply, Request, drift,
    guard::{
        as_planned,
        deletion_guard::{Judgement, judged},
        rollout::Rollouts,
        terminating,
    },
    parent::status::Returned,
    request::Force,
    stage::{Awaited, CarryOut, Phase, Stage},
    turn::{child_failed, held_step, step_failed, waits},
    view::View,
};
use crate::{
    diff::same_owned_fields,
    history::ReconcileStep,
    journal::{Fact, Held, Pause, PausedBy, Wait},
    object::Object,
    plan::{
        ChildId, DeletionGuard, Exceeded, Reservation, Settled, Step, Waiting, WaitingReason, Write,
    },
    reply::{ApiError, ErrorClass},
};

impl Machine {
    // === before anything is written ===

    /// Verifies by a dry run that children with `on_delete` really differ: an admission policy may have
    /// changed what was applied. Done once for each desired state and version of a child.
    pub(in crate::run) fn check_doubtful(&mut self, at: &Moment<'_>) {
        while let Some(write) = self.next_doubtful() {
            if let Some(Some(live)) = self.view(at, |view| view.snapshot.cached(&write.id)) {
                let request = Request::dry_run(&write.id, &write.body, Force::Yes);
                return self.send(request, Awaited::Doubtful(write, live));
            }
        }
        self.note_waiting(at);
    }

    fn next_doubtful(&mut self) -> Option<Write> {
        match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Doubtful(left), .. }) => left.pop_front(),
            _ => None,
        }
    }

    pub(in crate::run) fn doubtful_checked(
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
                let facts = [Fact::DryRunUnchanged(known()), Fact::UpToDate(write.id.clone())];
                self.stop_waiting_for(&write.id);
                self.note(facts, at);
            }
            Ok(_) => self.note([Fact::DryRunDiffers(known())], at),
            // A permission or an admission rule forbids the dry run, and will forbid it again.
            Err(error)
                if matches!(error.class(), ErrorClass::Permanent | ErrorClass::Forbidden) =>
            {
                self.note([Fact::DryRunDiffers(known())], at);
            }
            Err(error) => {
                self.stop_waiting_for(&write.id);
                self.note([doubted(&write.id, error)], at);
                return self.note_waiting(at);
            }
        }
        self.check_doubtful(at);
    }

    fn stop_waiting_for(&mut self, child: &ChildId) {
        if let Stage::CarryingOut(plan) = &mut self.stage {
            plan.waiting.retain(|waiting| waiting.id != *child);
        }
    }

    fn note_waiting(&mut self, at: &Moment<'_>) {
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
        self.read_terminating(at);
    }

    /// Reports the pending steps of a plan, and the children that need no step.
    fn hold(&mut self, by: PausedBy, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = std::mem::replace(&mut self.stage, Stage::WritingStatus)
        else {
            return;
        };
        let CarryOut { status, steps, waiting, existing, .. } = plan;
        // Deletions are judged after the pause; that there are none can be reported now.
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

    fn read_terminating(&mut self, at: &Moment<'_>) {
        let is_throttled = self.journal.progress().is_throttled;
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
            None => self.reread_parent(at),
        }
    }

    pub(in crate::run) fn terminating_read(
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
        self.read_terminating(at);
    }

    /// A missing child that existed before may be missing because its parent is being deleted.
    fn reread_parent(&mut self, at: &Moment<'_>) {
        let (Stage::CarryingOut(plan), Some(parent)) = (&self.stage, &self.parent) else { return };
        // What waits for other children is not created as long as nothing else is written.
        let creates = plan.steps.iter().any(|step| matches!(step, Step::Create(_)))
            && self.has_turn(plan, at);
        let had_children = self.memory.had_children() || parent.field("status").is_some();
        if !creates || !had_children {
            return self.judge_deletions(None, at);
        }
        let request = Request::Read(ChildId::of(parent));
        self.set_phase(Phase::MayCreate);
        self.send(request, Awaited::MayCreate);
    }

    pub(in crate::run) fn parent_reread(&mut self, answer: Answer, at: &Moment<'_>) {
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
        let Stage::CarryingOut(plan) = std::mem::replace(&mut self.stage, Stage::WritingStatus)
        else {
            return;
        };
        let CarryOut { status, existing, replacing, taken, sequence, .. } = plan;
        if let Some(sequence) = sequence {
            let (rollouts, begun) = (&sequence.rollouts, BTreeSet::new());
            let far =
                |view: &View<'_>| Rollouts::now(rollouts, &begun, |_| false, view).facts(view);
            let facts = self.view(at, far).unwrap_or_default();
            self.note(facts, at);
        }
        if !self.journal.progress().is_throttled {
            self.memory.forget_throttled();
        }
        if self.memory.waits_for_stages() && !self.journal.progress().is_behind {
            self.note([Fact::WaitedFor(<_>::default())], at);
        }
        if let Some(taken) = taken {
            self.effects.push(Effect::Release(taken, self.journal.progress().deleted));
        }
        let unknown = self.view(at, |view| {
            // A parent that may be outdated keeps all its children.
            if view.snapshot.may_be_old(view.parent) {
                return [view.parent.ty().clone()].into();
            }
            view.snapshot.unsynced(view.parent).types()
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

/// A dry run that failed is repeated soon.
fn doubted(child: &ChildId, error: ApiError) -> Fact {
    if error.is_throttling() {
        return child_failed(child, error);
    }
    waits(child, Wait::Others("it appears to differ, and the dry run that would confirm it failed"))
}
