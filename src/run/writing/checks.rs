//! Before anything is written: which children really differ, whether the parent is as planned, and whether the deletions
//! are allowed.

use std::collections::VecDeque;

use crate::{
    diff::same_owned_fields,
    history::ReconcileStep,
    journal::{Fact, Held, Pause, PausedBy, Wait},
    object::Object,
    plan::{
        ChildId, DeletionGuard, Exceeded, Reservation, Settled, Step, WaitingChild, WaitingReason,
        Write,
    },
    reply::{ApiError, ErrorClass},
    run::{
        Answer, Effect, Reply, Request,
        guard::{
            as_planned,
            deletion_guard::{Judgement, judged},
            terminating,
        },
        reconcile::Reconcile,
        request::Force,
        stage::{CarryOut, Doubt, Stage},
        turn::{child_failed, held_step, step_failed, waits},
    },
};

impl Reconcile {
    /// Verifies by a dry run that children with `on_delete` really differ: an admission policy may have
    /// changed what was applied. Done once for each desired state and version of a child.
    pub(in crate::run) fn check_doubtful(
        &mut self,
        plan: Box<CarryOut>,
        mut left: VecDeque<Write>,
    ) -> Stage {
        while let Some(write) = left.pop_front() {
            if let Some(live) = self.view().snapshot.cached(&write.id) {
                self.send(Request::dry_run(&write.id, &write.body, Force::Yes));
                return Stage::DryRunning(plan, Box::new(Doubt { write, live, left }));
            }
        }
        self.note_waiting(plan)
    }

    pub(in crate::run) fn dry_run_answered(
        &mut self,
        mut plan: Box<CarryOut>,
        Doubt { write, live, left }: Doubt,
        answer: Answer,
    ) -> Stage {
        let known = Settled::new(&write, &live, self.settings.name());
        match Reply::written(answer) {
            Ok(reply) if same_owned_fields(&live, &reply, self.settings.name()) => {
                plan.waiting.retain(|waiting| waiting.id != write.id);
                self.note([Fact::DryRunUnchanged(known), Fact::UpToDate(write.id)]);
            }
            Ok(_) => self.note([Fact::DryRunDiffers(known)]),
            // A permission or an admission rule forbids the dry run, and will forbid it again.
            Err(error)
                if matches!(error.class(), ErrorClass::Permanent | ErrorClass::Forbidden) =>
            {
                self.note([Fact::DryRunDiffers(known)]);
            }
            Err(error) => {
                plan.waiting.retain(|waiting| waiting.id != write.id);
                self.note([doubted(&write.id, error)]);
                return self.note_waiting(plan);
            }
        }
        self.check_doubtful(plan, left)
    }

    fn note_waiting(&mut self, plan: Box<CarryOut>) -> Stage {
        let wait = |WaitingChild { id, why }: &WaitingChild| waits(id, Wait::Planned(why.clone()));
        self.note(plan.waiting.iter().map(wait));
        if let Some(by) = plan.paused {
            return self.hold(*plan, by);
        }
        let (overdue, fact) = terminating::overdue(&self.view(), &plan.waiting, &plan.replacing);
        self.note(fact);
        self.read_terminating(plan, overdue.into())
    }

    /// Reports the pending steps of a plan, and the children that need no step.
    fn hold(&mut self, plan: CarryOut, by: PausedBy) -> Stage {
        let CarryOut { status, steps, waiting, existing, .. } = plan;
        // Deletions are judged after the pause; that there are none can be reported now.
        let may_go = |waiting: &WaitingChild| waiting.why == WaitingReason::TypeNotSynced;
        if steps.iter().all(|step| step.final_deletion().is_none()) && !waiting.iter().any(may_go) {
            self.note([Fact::Judged { deletion_guard: DeletionGuard::default(), held: None }]);
        }
        self.note([Fact::WritesHeld(existing)]);
        self.note([Fact::Paused(Pause { by, held: Held::Writes(0) })]);
        for step in &steps {
            let facts = held_step(step, by, self.journal.progress().held_writes());
            self.note(facts);
        }
        self.lap(ReconcileStep::Apply);
        self.conclude(status)
    }

    fn read_terminating(&mut self, plan: Box<CarryOut>, mut left: VecDeque<Object>) -> Stage {
        let is_throttled = self.journal.progress().is_throttled;
        match left.pop_front().filter(|_| !is_throttled) {
            Some(child) => {
                self.send(Request::Read(ChildId::of(&child)));
                Stage::ReadingTerminating(plan, child, left)
            }
            None => self.read_parent_again(plan),
        }
    }

    pub(in crate::run) fn terminating_read(
        &mut self,
        plan: Box<CarryOut>,
        (child, left): (&Object, VecDeque<Object>),
        answer: Answer,
    ) -> Stage {
        match Reply::object(answer) {
            Ok(live) => {
                for cache in terminating::seen(child, live) {
                    self.cache(cache);
                }
            }
            Err(error) => self.note([child_failed(&ChildId::of(child), error)]),
        }
        self.read_terminating(plan, left)
    }

    /// A missing child that existed before may be missing because its parent is being deleted.
    fn read_parent_again(&mut self, plan: Box<CarryOut>) -> Stage {
        let parent = self.parent();
        // What waits for other children is not created as long as nothing else is written.
        let creates = plan.steps.iter().any(|step| matches!(step, Step::Create(_)))
            && self.first_turn(&plan, &plan.steps).is_some();
        let had_children = || self.memory.had_children() || parent.field("status").is_some();
        if !creates || !had_children() {
            return self.judge_deletions(plan, None);
        }
        let request = Request::Read(ChildId::of(parent));
        self.send(request);
        Stage::ReadingParentAgain(plan)
    }

    pub(in crate::run) fn parent_read_again(
        &mut self,
        plan: Box<CarryOut>,
        answer: Answer,
    ) -> Stage {
        let is_as_planned = match Reply::object(answer) {
            Ok(live) => self.ask(|view| as_planned::judge(view, live)),
            Err(error) => {
                self.note([step_failed("the parent", error)]);
                false
            }
        };
        if is_as_planned {
            return self.judge_deletions(plan, None);
        }
        self.lap(ReconcileStep::Apply);
        self.conclude(plan.status)
    }

    pub(in crate::run) fn judge_deletions(
        &mut self,
        mut plan: Box<CarryOut>,
        reserved: Option<Result<Reservation, Exceeded>>,
    ) -> Stage {
        let is_part = plan.waiting.iter().any(|it| it.why == WaitingReason::TypeNotSynced);
        let (existing, answer) = (plan.existing, reserved.map(|it| it.map(drop)));
        match judged(&self.view(), &plan.steps, (existing, is_part), answer) {
            Judgement::Reserve(allowance, deletions) => {
                self.effects.push(Effect::Reserve(allowance, deletions));
                return Stage::Reserving(plan);
            }
            Judgement::Free(fact) => {
                self.note(fact);
                plan.taken = reserved.and_then(Result::ok);
            }
            Judgement::Held(fact) => {
                self.note([fact]);
                plan.steps.retain(|step| step.final_deletion().is_none());
            }
        }
        self.write(plan)
    }
}

/// A dry run that failed is repeated soon.
fn doubted(child: &ChildId, error: ApiError) -> Fact {
    if error.is_throttling() {
        return child_failed(child, error);
    }
    waits(child, Wait::Others("it appears to differ, and the dry run that would confirm it failed"))
}
