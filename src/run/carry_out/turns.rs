//! Which steps go first: the order of children, and rollouts.

use std::collections::BTreeSet;

use crate::{
    journal::Wait,
    plan::{ChildId, Deletion, Order, Step},
    run::{
        Machine, Moment,
        guard::{order::Turns, rollout::Rollouts},
        stage::{CarryOut, Phase, Sequence, Stage},
        turn::waits,
        view::View,
    },
};

impl Machine {
    /// The index of the next step whose turn has come.
    pub(super) fn next_step(&self, at: &Moment<'_>) -> Option<usize> {
        match &self.stage {
            Stage::CarryingOut(plan @ CarryOut { phase: Phase::Writing(window), .. }) => {
                self.first_turn(plan, &window.steps, at)
            }
            _ => None,
        }
    }

    /// Whether the turn of any step of a plan has come.
    pub(super) fn has_turn(&self, plan: &CarryOut, at: &Moment<'_>) -> bool {
        self.first_turn(plan, &plan.steps, at).is_some()
    }

    fn first_turn<'s>(
        &self,
        plan: &CarryOut,
        steps: impl IntoIterator<Item = &'s Step>,
        at: &Moment<'_>,
    ) -> Option<usize> {
        let mut steps = steps.into_iter();
        let Some(sequence) = &plan.sequence else { return steps.next().map(|_| 0) };
        let first = |view: &View<'_>| {
            let rollouts = self.rollouts(plan, sequence, &sequence.begun, view);
            match &sequence.order {
                Some(order) => {
                    self.turns(order, plan).first(steps, |step| rollouts.admit(step), view)
                }
                None => steps.position(|step| rollouts.admit(step)),
            }
        };
        self.view(at, first).flatten()
    }

    fn turns<'a>(&'a self, order: &'a Order, plan: &'a CarryOut) -> Turns<'a> {
        Turns { order, uncounted: &self.uncounted, waiting: &plan.waiting }
    }

    fn rollouts<'a>(
        &self,
        plan: &CarryOut,
        sequence: &'a Sequence,
        begun: &BTreeSet<ChildId>,
        view: &View<'_>,
    ) -> Rollouts<'a> {
        let order = sequence.order.as_ref();
        let turns = order.map(|order| self.turns(order, plan));
        let is_behind = |child: &_| turns.is_some_and(|turns| turns.is_behind(child, view));
        Rollouts::now(&sequence.rollouts, begun, is_behind, view)
    }

    /// The steps wait for children that are not ready.
    pub(super) fn put_off_rest(&mut self, at: &Moment<'_>) {
        let Some(window) = self.window_mut() else { return };
        let steps = Vec::from(std::mem::take(&mut window.steps));
        let Stage::CarryingOut(plan) = &self.stage else { return };
        let Some(sequence) = &plan.sequence else { return };
        let facts = self.view(at, |view| {
            let order = sequence.order.as_ref();
            let mut facts =
                order.map_or_else(Vec::new, |order| self.turns(order, plan).put_off(&steps, view));
            let rollouts = self.rollouts(plan, sequence, &sequence.begun, view);
            let behind = |step: &Step| Some(waits(step.id(), rollouts.wait(step, view)?));
            facts.extend(steps.iter().filter_map(behind));
            facts
        });
        self.note(facts.unwrap_or_default(), at);
    }

    /// Why a child is not recreated now: others of its type became unavailable meanwhile.
    pub(super) fn rollout_wait(&self, deletion: &Deletion, at: &Moment<'_>) -> Option<Wait> {
        let Stage::CarryingOut(plan) = &self.stage else { return None };
        let (sequence, begun) = (plan.sequence.as_ref()?, BTreeSet::new());
        let step = Step::Delete(deletion.clone());
        let wait = |view: &View<'_>| self.rollouts(plan, sequence, &begun, view).wait(&step, view);
        self.view(at, wait).flatten()
    }

    /// A child that must be gone before another is deleted, and is not.
    pub(super) fn leaves_before(&self, deletion: &Deletion, at: &Moment<'_>) -> Option<ChildId> {
        let Stage::CarryingOut(CarryOut { sequence, .. }) = &self.stage else { return None };
        let leaving = &sequence.as_ref()?.leaving;
        let (_, own) = leaving.iter().find(|(id, _)| *id == deletion.id)?;
        let exists = |id: &ChildId| {
            self.view(at, |view| view.snapshot.cached(id).is_some()).unwrap_or_default()
        };
        let mut before = leaving.iter().filter(|(_, rank)| rank > own);
        before.find(|(id, _)| exists(id)).map(|(id, _)| id.clone())
    }
}
