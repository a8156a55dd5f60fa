//! Writes that are sent together.

use std::collections::VecDeque;

use super::step::ChildStep;
use crate::{
    plan::Step,
    run::{
        Answer, RequestId, child,
        reconcile::Reconcile,
        stage::{CarryOut, Stage, Window},
        turn::StopReason,
    },
};

impl Reconcile {
    /// Sends the writes in the order of the steps; deletions follow.
    pub(super) fn write(&mut self, mut plan: Box<CarryOut>) -> Stage {
        let mut steps = std::mem::take(&mut plan.steps);
        // A child that is always throttled must not block those behind it.
        steps.sort_by_key(|step| self.memory.is_throttled(step.id()));
        let failures = self.journal.progress().failed_requests;
        self.refill(plan, Window::new(VecDeque::from(steps), failures))
    }

    pub(in crate::run) fn write_answered(
        &mut self,
        plan: Box<CarryOut>,
        mut window: Window,
        (id, answer): (RequestId, Answer),
    ) -> Stage {
        if let Some(state) = window.answered(id) {
            let step = self.child_answered(*state, answer);
            self.stepped(&mut window, step);
        }
        self.refill(plan, window)
    }

    /// Sends further writes, up to the size of the window. Children do not depend on each other, so types do
    /// not matter. The window grows with each success, as the first write shows whether the server has
    /// capacity, and shrinks to one after a failure. The request permits of the process bound it too, so that
    /// one parent with many children sends no more at once than many parents with one.
    fn refill(&mut self, mut plan: Box<CarryOut>, mut window: Window) -> Stage {
        let mut spare = self.snapshot.spare;
        while !window.is_full(spare) {
            if let Some(stop) = StopReason::now(&self.view()) {
                self.hold_rest(stop, &mut window);
            } else if let Some(index) = self.first_turn(&plan, &window.steps) {
                self.begin_write(&mut plan, &mut window, index);
            } else if window.in_flight.is_empty() {
                self.put_off_rest(&plan, &mut window);
            } else {
                break;
            }
            spare = spare.saturating_sub(1);
        }
        if window.is_over() {
            return self.delete_all(plan, window.deletions);
        }
        Stage::Writing(plan, window)
    }

    fn begin_write(&mut self, plan: &mut CarryOut, window: &mut Window, index: usize) {
        let Some(step) = window.steps.remove(index) else { return };
        if let Some(sequence) = plan.sequence.as_mut().filter(|it| !it.rollouts.is_empty()) {
            sequence.begun.insert(step.id().clone());
        }
        // Deletions begin here too: the rival is searched before.
        let step = self.begin_child(child::Task::Write(step));
        self.stepped(window, step);
    }

    fn stepped(&self, window: &mut Window, step: ChildStep) {
        match step {
            ChildStep::Asked(id, state) => window.in_flight.push((id, state)),
            ChildStep::Ended { deletion, left: _ } => {
                window.ended(deletion, self.journal.progress().failed_requests);
            }
        }
    }

    fn hold_rest(&mut self, stop: StopReason, window: &mut Window) {
        for step in std::mem::take(&mut window.steps) {
            let facts = stop.hold(&step, &self.view());
            self.note(facts);
        }
    }

    /// The rest of the steps waits for children that are not ready.
    fn put_off_rest(&mut self, plan: &CarryOut, window: &mut Window) {
        let steps: Vec<Step> = std::mem::take(&mut window.steps).into();
        let facts = self.put_off(plan, &steps);
        self.note(facts);
    }
}
