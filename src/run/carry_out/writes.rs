//! Writes that are sent together, and deletions, one after the other. A failure with one child does not keep
//! the others from theirs.

use std::collections::VecDeque;

use crate::{
    journal::Wait,
    object::{K8sType, Object},
    operator::ConflictPolicy,
    plan::{Deletion, Step, WaitingReason},
    run::{
        Machine, Moment, child,
        stage::{Awaited, CarryOut, Phase, Stage, Window},
        turn::{StopReason, waits},
        view::View,
    },
};

/// So many children of one parent are written at once.
const MAX_AT_ONCE: usize = 8;

impl Machine {
    /// Writes, in the order of the steps; what is to be deleted waits.
    pub(super) fn write(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = &mut self.stage else { return };
        let mut steps = std::mem::take(&mut plan.steps);
        // Or a child that the server never takes would keep those behind it waiting for ever.
        steps.sort_by_key(|step| self.memory.is_throttled(step.id()));
        let failures = self.journal.progress().failed_requests();
        let steps = VecDeque::from(steps);
        self.set_phase(Phase::Writing(Window::new(steps, failures)));
        self.refill(at);
    }

    /// Sends further writes, as many as may be under way: of whatever type, as children do not depend on
    /// each other, and ever more while all goes well, as the first one tells whether the server has time; but
    /// only as many as the process has to spare, so that one parent with many children asks no more of the
    /// server than many with one. After a failure one at a time, until one succeeds.
    pub(super) fn refill(&mut self, at: &Moment<'_>) {
        let mut spare = at.snapshot.spare();
        while let Some((size, under_way, is_empty)) = self.window() {
            if is_empty && under_way == 0 {
                return self.delete_all(at);
            }
            if is_empty || under_way >= size || (under_way > 0 && spare == 0) {
                return;
            }
            match self.view(at, StopReason::now).flatten() {
                Some(stop) => self.hold_rest(stop, at),
                None => self.begin_next(at),
            }
            spare = spare.saturating_sub(1);
        }
    }

    fn begin_next(&mut self, at: &Moment<'_>) {
        let Some(window) = self.window_mut() else { return };
        let Some(step) = window.steps.pop_front() else { return };
        window.under_way += 1;
        // Also what is to be deleted: who else writes it is found out before.
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
    pub(in crate::run) fn begin_child(
        &mut self,
        task: child::Task,
        at: &Moment<'_>,
    ) -> Option<ChildEnd> {
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
                child::Next::Hand(task) => self.ask(at, |view| child::begin(*task, view)),
                child::Next::Delete(deletion) => {
                    return Some(ChildEnd { deletion: Some(deletion), left: None });
                }
                child::Next::Done(left) => return Some(ChildEnd { deletion: None, left }),
            };
        }
    }

    /// A request about a child was answered.
    pub(in crate::run) fn child_next(&mut self, next: Option<child::Next>, at: &Moment<'_>) {
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
        let unsynced = |view: &View<'_>| view.snapshot.unsynced(view.parent);
        self.view(at, unsynced).is_some_and(|unsynced| unsynced.contains(ty))
    }

    fn is_incomplete(&self) -> bool {
        self.journal.progress().is_incomplete()
            || self.memory.last_applied().contested().any(|it| it.policy == ConflictPolicy::Report)
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
}

/// The end of what is done about one child for now.
pub(in crate::run) struct ChildEnd {
    /// It is to be deleted when all writes are done.
    pub(in crate::run) deletion: Option<Deletion>,
    /// What is left of one that was to be deleted.
    pub(in crate::run) left: Option<Object>,
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
