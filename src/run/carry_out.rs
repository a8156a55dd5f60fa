//! From a plan to its end: dry runs and looks, then writes that are sent together, then deletions, one after
//! the other. A failure with one child does not keep the others from theirs.

use std::collections::VecDeque;

use super::{
    Answer, Effect, Machine, Moment, Reply, Request, child, drift,
    guard::{
        as_planned,
        deletion_guard::{Judgement, judged},
        lingering,
    },
    parent::status::Returned,
    request::Force,
    stage::{Awaited, CarryOut, Phase, Stage, Window},
    turn::{StopReason, child_failed, held_step, step_failed, waits},
};
use crate::{
    cluster::{ApiError, ErrorClass},
    history::RunStep,
    journal::{Fact, Held, Pause, PausedBy, Wait},
    object::{K8sType, Object},
    plan::{
        ChildId, Deletion, Exceeded, Interlock, Settled, Step, Taken, Waiting, WaitingReason,
        Write, explains,
    },
};

/// So many children of one parent are written at once.
const MAX_AT_ONCE: usize = 8;

impl Machine {
    // === before anything is written ===

    /// Children that change only when somebody deletes them, and whether those that look different are:
    /// an admission policy may have changed what was applied. Asked by a dry run, once for each desired
    /// state and state of a child.
    pub(super) fn try_doubtful(&mut self, at: &Moment<'_>) {
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

    pub(super) fn doubtful_tried(
        &mut self,
        write: &Write,
        live: &Object,
        answer: Answer,
        at: &Moment<'_>,
    ) {
        let name = self.settings.name();
        let known = || Settled::new(write, live, name);
        match Reply::written(answer) {
            Ok(reply) if explains(live, &reply, name) => {
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
            .view(at, |view| lingering::overdue(view, &waiting, &replacing))
            .unwrap_or_default();
        self.note(fact, at);
        self.set_phase(Phase::Lingering(overdue.into()));
        self.look_at_lingering(at);
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
            self.note([Fact::Judged { interlock: Interlock::default(), held: None }], at);
        }
        self.note([Fact::WritesHeld(existing)], at);
        self.note([Fact::Paused(Pause { by, held: Held::Writes(0) })], at);
        for step in &steps {
            let facts = held_step(step, by, self.journal.progress().held_writes());
            self.note(facts, at);
        }
        self.lap(RunStep::Apply, at);
        self.conclude(status, at);
    }

    fn look_at_lingering(&mut self, at: &Moment<'_>) {
        let is_throttled = self.journal.progress().is_throttled();
        let child = match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Lingering(left), .. }) => left.pop_front(),
            _ => None,
        };
        match child.filter(|_| !is_throttled) {
            Some(child) => {
                self.send(Request::Read(ChildId::of(&child)), Awaited::Lingering(child));
            }
            None => self.look_at_parent(at),
        }
    }

    pub(super) fn lingering_looked_at(&mut self, child: &Object, answer: Answer, at: &Moment<'_>) {
        match Reply::object(answer) {
            Ok(live) => {
                let cache = lingering::seen(child, live);
                self.effects.extend(cache.into_iter().map(Effect::Cache));
            }
            Err(error) => self.note([child_failed(&ChildId::of(child), error)], at),
        }
        self.look_at_lingering(at);
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

    pub(super) fn may_create_looked_at(&mut self, answer: Answer, at: &Moment<'_>) {
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
        self.lap(RunStep::Apply, at);
        let status = self.status_of_plan();
        self.conclude(status, at);
    }

    fn judge_deletions(&mut self, reserved: Option<Result<Taken, Exceeded>>, at: &Moment<'_>) {
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

    pub(super) fn reserved(&mut self, reserved: Result<Taken, Exceeded>, at: &Moment<'_>) {
        self.judge_deletions(Some(reserved), at);
    }

    // === writes ===

    /// Writes, in the order of the steps; what is to be deleted waits.
    fn write(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = &mut self.stage else { return };
        let mut steps = std::mem::take(&mut plan.steps);
        // Or a child that the server never takes would keep those behind it waiting for ever.
        steps.sort_by_key(|step| self.memory.is_throttled(step.id()));
        let failures = self.journal.progress().failed_requests();
        let steps = VecDeque::from(steps);
        self.set_phase(Phase::Writing(Window::new(steps, failures)));
        self.refill(at);
    }

    /// Sends further writes, as many as may be under way: ever more while all goes well, as the first one
    /// tells whether the server has time. But only as many as are free, so that one parent with many
    /// children asks no more of the server than many with one.
    fn refill(&mut self, at: &Moment<'_>) {
        while let Some((size, under_way, is_empty)) = self.window() {
            if is_empty && under_way == 0 {
                return self.delete_all(at);
            }
            if is_empty || under_way >= size.min(1 + at.snapshot.spare()) {
                return;
            }
            match self.view(at, StopReason::now).flatten() {
                Some(stop) => self.hold_rest(stop, at),
                None => self.begin_next(at),
            }
        }
    }

    fn begin_next(&mut self, at: &Moment<'_>) {
        let Some(step) = self.window_mut().and_then(|window| window.steps.pop_front()) else {
            return;
        };
        let step = match step {
            Step::Delete(deletion) => {
                if let Some(window) = self.window_mut() {
                    window.deletions.push(deletion);
                }
                return;
            }
            step => step,
        };
        if let Some(window) = self.window_mut() {
            window.under_way += 1;
        }
        if let Some(ended) = self.begin_child(child::Task::Write(step), at) {
            self.write_ended(ended);
        }
    }

    fn write_ended(&mut self, ended: ChildEnd) {
        let failures = self.journal.progress().failed_requests();
        if let Some(window) = self.window_mut() {
            window.ended(ended.deletion, failures);
        }
    }

    fn hold_rest(&mut self, stop: StopReason, at: &Moment<'_>) {
        let Some(window) = self.window_mut() else { return };
        for step in std::mem::take(&mut window.steps) {
            let facts = self.view(at, |view| stop.hold(&step, view)).unwrap_or_default();
            self.note(facts, at);
        }
    }

    fn window_mut(&mut self) -> Option<&mut Window> {
        match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) => Some(window),
            _ => None,
        }
    }

    /// How many may be under way, how many are, and whether no more are to come.
    fn window(&self) -> Option<(usize, usize, bool)> {
        match &self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) => {
                Some((window.size, window.under_way, window.steps.is_empty()))
            }
            _ => None,
        }
    }

    /// Begins a task, room by room, until a request is sent or all is done.
    pub(super) fn begin_child(&mut self, task: child::Task, at: &Moment<'_>) -> Option<ChildEnd> {
        let next = self.ask(at, |view| child::begin(task, view));
        self.go_on_with_child(next, at)
    }

    fn go_on_with_child(
        &mut self,
        mut next: Option<child::Next>,
        at: &Moment<'_>,
    ) -> Option<ChildEnd> {
        loop {
            next = match next? {
                child::Next::Ask(request, state) => {
                    self.send(request, Awaited::Child(state));
                    return None;
                }
                child::Next::Hand(task) => self.ask(at, |view| child::begin(task, view)),
                child::Next::Delete(deletion) => {
                    return Some(ChildEnd { deletion: Some(deletion), left: None });
                }
                child::Next::Done(left) => return Some(ChildEnd { deletion: None, left }),
            };
        }
    }

    /// A request about a child was answered.
    pub(super) fn child_next(&mut self, next: Option<child::Next>, at: &Moment<'_>) {
        let Some(ended) = self.go_on_with_child(next, at) else { return };
        match &self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Writing(_), .. }) => {
                self.write_ended(ended);
                self.refill(at);
            }
            Stage::CarryingOut(CarryOut { phase: Phase::Deleting(_), .. }) => {
                self.deletion_ended(ended, at);
                self.delete_next(at);
            }
            Stage::Collecting(_) => {
                self.collected_child(ended.left, at);
                self.collect_next(at);
            }
            Stage::CollectingOthers(_) => self.collect_next_other(at),
            _ => {}
        }
    }

    // === deletions ===

    /// Deletes, unless a child that is desired was not written: it may be what replaces one which is to go.
    /// One that is to be created again is replaced by itself, and waits only while the server may be out of
    /// order. A deletion that is refused keeps no other from its own: it may be refused for ever.
    fn delete_all(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) = &mut self.stage
        else {
            return;
        };
        let deletions = std::mem::take(&mut window.deletions);
        let is_troubled = self.journal.progress().has_passing_failures();
        let is_incomplete = self.is_incomplete();
        let mut due = VecDeque::new();
        for deletion in deletions {
            if !self.is_alive() {
                break;
            }
            let waits_for_writes =
                is_troubled || (is_incomplete && deletion.instead_of().is_none());
            if let Some(Some(facts)) = self.view(at, |view| child::is_held(&deletion, view)) {
                self.note(facts, at);
            } else if self.is_unsynced(&deletion.id.ty, at) {
                // Since it was planned, or because of what a write was answered.
                let why = Wait::Planned(WaitingReason::TypeNotSynced);
                self.note([waits(&deletion.id, why)], at);
            } else if waits_for_writes {
                self.note([waits(&deletion.id, Wait::Writes)], at);
            } else {
                due.push_back(deletion);
            }
        }
        self.set_phase(Phase::Deleting(due));
        self.delete_next(at);
    }

    fn is_unsynced(&self, ty: &K8sType, at: &Moment<'_>) -> bool {
        let unsynced = |view: &super::snapshot::View<'_>| view.snapshot.unsynced(view.parent);
        self.view(at, unsynced).is_some_and(|unsynced| unsynced.contains(ty))
    }

    fn is_incomplete(&self) -> bool {
        use crate::operator::ConflictPolicy::Report;
        self.journal.progress().is_incomplete()
            || self.memory.memos().contested().any(|it| it.policy == Report)
    }

    fn delete_next(&mut self, at: &Moment<'_>) {
        loop {
            let is_throttled = self.journal.progress().is_throttled();
            let is_alive = self.is_alive();
            let Stage::CarryingOut(CarryOut { phase: Phase::Deleting(due), .. }) = &mut self.stage
            else {
                return;
            };
            let Some(deletion) = due.pop_front().filter(|_| is_alive) else {
                return self.end_writes(at);
            };
            if self.is_unsynced(&deletion.id.ty, at) {
                let why = Wait::Planned(WaitingReason::TypeNotSynced);
                self.note([waits(&deletion.id, why)], at);
            } else if is_throttled {
                self.note([waits(&deletion.id, Wait::Throttled)], at);
            } else if let Some(ended) = self.begin_child(child::Task::Delete(deletion, 1), at) {
                self.deletion_ended(ended, at);
            } else {
                return;
            }
        }
    }

    fn deletion_ended(&mut self, ended: ChildEnd, at: &Moment<'_>) {
        // A write that came instead of it led to another one.
        self.note(ended.deletion.map(|it| child::changed_while_tied(&it.id)), at);
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
        self.lap(RunStep::Apply, at);
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

/// The end of what is done about one child for now.
pub(super) struct ChildEnd {
    /// It is to be deleted when all writes are done.
    pub(super) deletion: Option<Deletion>,
    /// What is left of one that was to be deleted.
    pub(super) left: Option<Object>,
}

impl Window {
    fn new(steps: VecDeque<Step>, failures: usize) -> Self {
        Self { steps, deletions: Vec::new(), size: 1, under_way: 0, failures }
    }

    /// A write has ended. `failures` is how many requests have failed by now.
    fn ended(&mut self, deletion: Option<Deletion>, failures: usize) {
        self.under_way -= 1;
        self.deletions.extend(deletion);
        let is_well = self.failures == failures;
        self.size = if is_well { (self.size + 1).min(MAX_AT_ONCE) } else { 1 };
        self.failures = failures;
    }
}

/// What the server cannot tell now is asked again soon.
fn doubted(child: &ChildId, error: ApiError) -> Fact {
    if error.is_throttling() {
        return child_failed(child, error);
    }
    waits(child, Wait::Others("it looks different, and the server cannot tell yet whether it is"))
}
