//! Writes that are sent together, and deletions one by one. The failure of one child does not stop the
//! others.

use std::collections::VecDeque;

use crate::{
    journal::Wait,
    object::Object,
    operator::ConflictPolicy,
    plan::{ChildId, Deletion, Step, WaitingReason},
    run::{
        Machine, Moment, child,
        stage::{Awaited, CarryOut, Phase, Stage, Window},
        turn::{StopReason, waits},
        view::View,
    },
};

/// The most concurrent writes for one parent.
const MAX_AT_ONCE: usize = 8;

impl Machine {
    /// Sends the writes in the order of the steps; deletions follow.
    pub(super) fn write(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(plan) = &mut self.stage else { return };
        let mut steps = std::mem::take(&mut plan.steps);
        // A child that is always throttled must not block those behind it.
        steps.sort_by_key(|step| self.memory.is_throttled(step.id()));
        let failures = self.journal.progress().failed_requests;
        let steps = VecDeque::from(steps);
        self.set_phase(Phase::Writing(Window::new(steps, failures)));
        self.refill(at);
    }

    /// Sends further writes, up to the size of the window. Children do not depend on each other, so types do
    /// not matter. The window grows with each success, as the first write shows whether the server has
    /// capacity, and shrinks to one after a failure. The request permits of the process bound it too, so that
    /// one parent with many children sends no more at once than many parents with one.
    pub(super) fn refill(&mut self, at: &Moment<'_>) {
        let mut spare = at.snapshot.spare();
        while let Some((size, in_flight, is_empty)) = self.window() {
            if is_empty && in_flight == 0 {
                return self.delete_all(at);
            }
            if is_empty || in_flight >= size || (in_flight > 0 && spare == 0) {
                return;
            }
            match (self.view(at, StopReason::now).flatten(), self.next_step(at)) {
                (Some(stop), _) => self.hold_rest(stop, at),
                (None, Some(index)) => self.begin_step(index, at),
                (None, None) if in_flight > 0 => return,
                (None, None) => self.put_off_rest(at),
            }
            spare = spare.saturating_sub(1);
        }
    }

    fn begin_step(&mut self, index: usize, at: &Moment<'_>) {
        let Some(window) = self.window_mut() else { return };
        let Some(step) = window.steps.remove(index) else { return };
        window.in_flight += 1;
        if let Stage::CarryingOut(CarryOut { sequence: Some(sequence), .. }) = &mut self.stage
            && !sequence.rollouts.is_empty()
        {
            sequence.begun.insert(step.id().clone());
        }
        // Deletions begin here too: the rival is searched before.
        if let Some(ended) = self.begin_child(child::Task::Write(step), at) {
            self.write_ended(ended);
        }
    }

    fn write_ended(&mut self, ended: ChildEnd) {
        let failures = self.journal.progress().failed_requests;
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

    pub(super) fn window_mut(&mut self) -> Option<&mut Window> {
        match &mut self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) => Some(window),
            _ => None,
        }
    }

    /// The size of the window, the writes in flight, and whether none is left to send.
    fn window(&self) -> Option<(usize, usize, bool)> {
        match &self.stage {
            Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) => {
                Some((window.size, window.in_flight, window.steps.is_empty()))
            }
            _ => None,
        }
    }

    /// Begins a task, and continues until a request is sent or the child is done.
    pub(in crate::run) fn begin_child(
        &mut self,
        task: child::Task,
        at: &Moment<'_>,
    ) -> Option<ChildEnd> {
        let next = self.ask(at, |view| child::begin(task, view));
        self.continue_child(next, at)
    }

    fn continue_child(
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

    /// Continues with the answer to a request about a child.
    pub(in crate::run) fn child_next(&mut self, next: Option<child::Next>, at: &Moment<'_>) {
        let Some(ended) = self.continue_child(next, at) else { return };
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

    /// Deletes, unless the write of a desired child failed: it may replace the child to delete. A child that
    /// is recreated replaces itself, and waits only while the server has transient failures. A refused
    /// deletion does not stop the others.
    fn delete_all(&mut self, at: &Moment<'_>) {
        let Stage::CarryingOut(CarryOut { phase: Phase::Writing(window), .. }) = &mut self.stage
        else {
            return;
        };
        let deletions = std::mem::take(&mut window.deletions);
        let has_failures = self.journal.progress().has_passing_failures();
        let is_incomplete = self.is_incomplete();
        let mut due = VecDeque::new();
        for deletion in deletions {
            if !self.is_alive() {
                break;
            }
            let waits_for_writes =
                has_failures || (is_incomplete && deletion.instead_of().is_none());
            if let Some(Some(facts)) = self.view(at, |view| child::is_held(&deletion, view)) {
                self.note(facts, at);
            } else if self.is_unsynced(&deletion.id, at) {
                // The type became unsynced after the plan was made.
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

    fn is_unsynced(&self, child: &ChildId, at: &Moment<'_>) -> bool {
        let unsynced = |view: &View<'_>| view.snapshot.unsynced(view.parent);
        self.view(at, unsynced).is_some_and(|unsynced| unsynced.covers(child))
    }

    /// Whether a desired child may be missing or is not written.
    pub(in crate::run) fn is_incomplete(&self) -> bool {
        self.journal.progress().is_incomplete()
            || self.memory.last_applied().contested().any(|it| it.policy == ConflictPolicy::Report)
    }

    fn delete_next(&mut self, at: &Moment<'_>) {
        loop {
            let is_throttled = self.journal.progress().is_throttled;
            let is_alive = self.is_alive();
            let Stage::CarryingOut(CarryOut { phase: Phase::Deleting(due), .. }) = &mut self.stage
            else {
                return;
            };
            let Some(deletion) = due.pop_front().filter(|_| is_alive) else {
                return self.end_writes(at);
            };
            if self.is_unsynced(&deletion.id, at) {
                let why = Wait::Planned(WaitingReason::TypeNotSynced);
                self.note([waits(&deletion.id, why)], at);
            } else if is_throttled {
                self.note([waits(&deletion.id, Wait::Throttled)], at);
            } else if let Some(wait) = self.recreation_waits(&deletion, at) {
                self.note([waits(&deletion.id, wait)], at);
            } else if let Some(before) = self.leaves_before(&deletion, at) {
                self.note([waits(&deletion.id, Wait::BehindDeletion(before))], at);
            } else if let Some(ended) = self.begin_child(child::Task::Delete(deletion, 1), at) {
                self.deletion_ended(ended, at);
            } else {
                return;
            }
        }
    }

    fn deletion_ended(&mut self, ended: ChildEnd, at: &Moment<'_>) {
        // A conflict turned the deletion into a write, and that into a deletion again.
        self.note(ended.deletion.map(|it| child::changed_while_claimed(&it.id)), at);
    }
}

pub(in crate::run) struct ChildEnd {
    /// The child is to be deleted after all writes.
    pub(in crate::run) deletion: Option<Deletion>,
    /// The terminating object that a deletion left.
    pub(in crate::run) left: Option<Object>,
}

impl Window {
    fn new(steps: VecDeque<Step>, failures: usize) -> Self {
        Self { steps, deletions: Vec::new(), size: 1, in_flight: 0, failures }
    }

    /// Records the end of a write. `failures` is the number of failed requests so far.
    fn ended(&mut self, deletion: Option<Deletion>, failures: usize) {
        self.in_flight -= 1;
        self.deletions.extend(deletion);
        let is_well = self.failures == failures;
        self.size = if is_well { (self.size + 1).min(MAX_AT_ONCE) } else { 1 };
        self.failures = failures;
    }
}
