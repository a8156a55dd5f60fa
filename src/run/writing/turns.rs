//! Which steps go first: the order of children, and rollouts.

use std::collections::BTreeSet;

use crate::{
    journal::{Fact, Wait},
    plan::{ChildId, Deletion, Order, Step},
    run::{
        guard::{earlier_stages::Turns, rollout::Rollouts},
        module_view::View,
        reconcile::Reconcile,
        stage::{CarryOut, Sequence},
    },
};

impl Reconcile {
    /// The index of the first step whose turn has come.
    pub(super) fn first_turn<'s>(
        &self,
        plan: &CarryOut,
        steps: impl IntoIterator<Item = &'s Step>,
    ) -> Option<usize> {
        let mut steps = steps.into_iter();
        let Some(sequence) = &plan.sequence else { return steps.next().map(|_| 0) };
        let view = &self.view();
        let rollouts = self.rollouts(plan, sequence, &sequence.begun, view);
        match &sequence.order {
            Some(order) => self.turns(order, plan).first(steps, |step| rollouts.admit(step), view),
            None => steps.position(|step| rollouts.admit(step)),
        }
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
        plan: &CarryOut,
        steps: &'s [Step],
        begun: &BTreeSet<ChildId>,
    ) -> Vec<(&'s Step, Wait)> {
        let Some(sequence) = &plan.sequence else { return Vec::new() };
        let view = &self.view();
        let turns = sequence.order.as_ref().map(|order| self.turns(order, plan));
        let rollouts = self.rollouts(plan, sequence, begun, view);
        let behind = |step: &Step| turns.and_then(|turns| turns.wait(step, view));
        let wait = |step: &Step| behind(step).or_else(|| rollouts.wait(step, view));
        steps.iter().filter_map(|step| Some((step, wait(step)?))).collect()
    }

    /// The facts about steps that wait for children that are not ready.
    pub(super) fn put_off(&self, plan: &CarryOut, steps: &[Step]) -> Vec<Fact> {
        let Some(sequence) = &plan.sequence else { return Vec::new() };
        let waits = self.waits(plan, steps, &sequence.begun);
        let mut facts: Vec<Fact> = waits.iter().map(|(step, why)| put_off(step, why)).collect();
        if let Some(order) = &sequence.order {
            let waits = waits.iter().map(|(_, why)| why);
            facts.extend(self.turns(order, plan).waited_for(waits, &self.view()));
        }
        facts
    }

    /// Why a child is not recreated now: others became unready since its turn had come.
    pub(super) fn recreation_waits(&self, plan: &CarryOut, deletion: &Deletion) -> Option<Wait> {
        deletion.instead_of()?;
        let step = [Step::Delete(deletion.clone())];
        self.waits(plan, &step, &BTreeSet::new()).pop().map(|(_, why)| why)
    }

    /// A child that must be gone before another is deleted, and is not.
    pub(super) fn leaves_before(&self, plan: &CarryOut, deletion: &Deletion) -> Option<ChildId> {
        let leaving = &plan.sequence.as_ref()?.leaving;
        let (_, own) = leaving.iter().find(|(id, _)| *id == deletion.id)?;
        let view = self.view();
        let mut before = leaving.iter().filter(|(_, rank)| rank > own);
        before.find(|(id, _)| view.snapshot.cached(id).is_some()).map(|(id, _)| id.clone())
    }
}

fn put_off(step: &Step, why: &Wait) -> Fact {
    let (child, why) = (step.id().clone(), why.clone());
    Fact::Waits { child, why, is_put_off: matches!(step, Step::Create(_)) }
}
