//! Which steps go first: the order of children, and rollouts.

use std::collections::BTreeSet;

use crate::{
    journal::{Fact, Wait},
    plan::{ChildId, Deletion, Order, Step},
    run::{
        Machine, Moment,
        guard::{order::Turns, rollout::Rollouts},
        stage::{CarryOut, Phase, Sequence, Stage},
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
        let (uncounted, finished_jobs) = (&self.uncounted, &self.finished_jobs);
        Turns { order, uncounted, finished_jobs, waiting: &plan.waiting }
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

    /// The steps that wait for the children before them, or for others of their type.
    fn waits<'s>(
        &self,
        steps: &'s [Step],
        begun: &BTreeSet<ChildId>,
        at: &Moment<'_>,
    ) -> Vec<(&'s Step, Wait)> {
        let Stage::CarryingOut(plan) = &self.stage else { return Vec::new() };
        let Some(sequence) = &plan.sequence else { return Vec::new() };
        let turns = sequence.order.as_ref().map(|order| self.turns(order, plan));
        let waits = |view: &View<'_>| {
            let rollouts = self.rollouts(plan, sequence, begun, view);
            let behind = |step: &Step| turns.and_then(|turns| turns.wait(step, view));
            let wait = |step: &Step| behind(step).or_else(|| rollouts.wait(step, view));
            steps.iter().filter_map(|step| Some((step, wait(step)?))).collect()
        };
        self.view(at, waits).unwrap_or_default()
    }

    /// The rest of the steps waits for children that are not ready.
    pub(super) fn put_off_rest(&mut self, at: &Moment<'_>) {
        let Some(window) = self.window_mut() else { return };
        let steps = Vec::from(std::mem::take(&mut window.steps));
        let Stage::CarryingOut(CarryOut { sequence: Some(sequence), .. }) = &self.stage else {
            return;
        };
        let waits = self.waits(&steps, &sequence.begun, at);
        let mut facts: Vec<Fact> = waits.iter().map(|(step, why)| put_off(step, why)).collect();
        facts.extend(self.waited_for(waits.iter().map(|(_, why)| why), at));
        self.note(facts, at);
    }

    fn waited_for<'b>(&self, waits: impl Iterator<Item = &'b Wait>, at: &Moment<'_>) -> Vec<Fact> {
        let Stage::CarryingOut(plan) = &self.stage else { return Vec::new() };
        let Some(order) = plan.sequence.as_ref().and_then(|it| it.order.as_ref()) else {
            return Vec::new();
        };
        let facts = |view: &View<'_>| self.turns(order, plan).waited_for(waits, view);
        self.view(at, facts).unwrap_or_default()
    }

    /// Why a child is not recreated now: others became unready since its turn had come.
    pub(super) fn recreation_waits(&self, deletion: &Deletion, at: &Moment<'_>) -> Option<Wait> {
        deletion.instead_of()?;
        let step = [Step::Delete(deletion.clone())];
        self.waits(&step, &BTreeSet::new(), at).pop().map(|(_, why)| why)
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

fn put_off(step: &Step, why: &Wait) -> Fact {
    let (child, why) = (step.id().clone(), why.clone());
    Fact::Waits { child, why, is_put_off: matches!(step, Step::Create(_)) }
}
