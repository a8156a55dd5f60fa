//! Plans: from what the handler desires to the steps that are carried out.

use std::collections::BTreeSet;

use super::{
    Effect, drift,
    parent::status::ReturnedStatus,
    reconcile::Reconcile,
    stage::{CarryOut, Returned, Sequence, Stage, Then},
};
use crate::{
    history::ReconcileStep,
    journal::{Fact, Failure, PausedBy, Planned, PlannedAs},
    object::K8sType,
    operator::{DecoratorResponse, checked_events},
    plan::{self, ChildId, Desired, Plan, PlanInput, Refusal, Step},
    report::finished_jobs,
};

impl Reconcile {
    pub(super) fn synced(&mut self, response: DecoratorResponse) -> Stage {
        let DecoratorResponse { response, decoration } = response;
        self.keep_returned(&response.children);
        self.mark_outdated();
        let (events, defect) = checked_events(response.events);
        if let Some(why) = response.unserializable.or(defect) {
            self.note([Fact::Failed(Failure::unserializable(&why))]);
            return self.conclude(None);
        }
        if !self.is_alive() {
            return self.conclude(None);
        }
        self.events_returned(events, false);
        let decoration = match decoration.checked(self.settings.config()) {
            Ok(decoration) => decoration,
            Err(refusals) => return self.refused(refusals, response.status.map(ReturnedStatus)),
        };
        let desired = Desired { children: response.children, stages: response.stages };
        if self.preview.is_none() {
            self.note(response.resync.map(Fact::Resync));
        }
        let returned = Returned { desired, status: response.status, decoration };
        let unread = self.unread_defaults();
        if unread.is_empty() {
            return self.plan_returned(returned);
        }
        self.effects.push(Effect::ReadSchema(unread));
        Stage::ReadingSchema(Then::Plan(Box::new(returned)))
    }

    /// The custom types of what the handler returned whose defaults are not known: where they would be a difference, a new
    /// process would write every child again.
    fn unread_defaults(&self) -> Vec<K8sType> {
        let known = &self.snapshot.schemas.defaults;
        let types = self.returned.iter().filter_map(|child| self.declared(&child.object));
        let unread: BTreeSet<_> = types.filter(|ty| ty.may_be_custom()).cloned().collect();
        unread.into_iter().filter(|ty| !known.contains_key(ty)).collect()
    }

    /// Plans what the handler returned, whether the defaults could be read or not.
    pub(super) fn plan_returned(&mut self, returned: Returned) -> Stage {
        let Returned { desired, status, decoration } = returned;
        if self.preview.is_some() {
            return self.preview_planned((desired, status.as_ref()), &decoration);
        }
        let status = status.map(ReturnedStatus);
        match self.planned(desired) {
            Ok(plan) => {
                self.decoration = self.settings.config().is_decorator().then_some(decoration);
                self.carry_out(plan, status)
            }
            Err(refusals) => self.refused(refusals, status),
        }
    }

    pub(super) fn refused(
        &mut self,
        refusals: Vec<Refusal>,
        status: Option<ReturnedStatus>,
    ) -> Stage {
        if self.preview.is_some() {
            return self.preview_failed(Failure::Refused(refusals));
        }
        self.note([Fact::Failed(Failure::Refused(refusals))]);
        self.conclude(status)
    }

    pub(super) fn planned(&mut self, desired: Desired) -> Result<Plan, Vec<Refusal>> {
        let view = self.view();
        let mut finished_jobs = finished_jobs::shown_by(&view.condition_names().alone(view.parent));
        finished_jobs.merge(view.memory.finished_jobs());
        let plan = plan::plan(PlanInput {
            config: self.settings.config(),
            operator: self.settings.name(),
            parent: view.parent,
            desired,
            observed: &self.observed,
            unsynced: &view.snapshot.doubts.unsynced,
            last_applied: self.memory.last_applied(),
            finished_jobs: &finished_jobs,
            defaults: &view.snapshot.schemas.defaults,
            sets_labels: view.snapshot.sets_labels,
            ended_jobs: &view.snapshot.objects.ended_jobs(view.parent.uid()),
            keeps_undesired: self.settings.is_leaving(view.parent)
                && !self.settings.takes_leave(view.parent),
        });
        self.lap(ReconcileStep::Plan);
        plan
    }

    /// A paused plan is reported, not carried out.
    pub(super) fn carry_out(&mut self, mut plan: Plan, status: Option<ReturnedStatus>) -> Stage {
        let paused = self.keeps(&plan);
        if paused.is_none() {
            self.rewrites = drift::foresee(&self.view(), &plan, &self.observed);
        }
        let existing = plan.existing();
        let planned = self.planned_fact(&plan);
        let doubtful = std::mem::take(&mut plan.doubtful).into();
        let Plan {
            steps,
            last_applied,
            waiting,
            replacing,
            uncounted,
            order,
            leaving,
            rollouts,
            finished_jobs,
            ..
        } = plan;
        (self.uncounted, self.finished_jobs) = (uncounted, finished_jobs);
        self.memory.set_last_applied(last_applied);
        self.note([Fact::Planned(planned)]);
        let sequence = Sequence::of(order, rollouts, leaving);
        let taken = None;
        let plan =
            CarryOut { status, steps, waiting, sequence, replacing, existing, paused, taken };
        self.check_doubtful(Box::new(plan), doubtful)
    }

    fn planned_fact(&self, plan: &Plan) -> Planned {
        let is_asked = !self.memory.foreign().is_empty() || !self.memory.recreated().is_empty();
        let lists_children = self.settings.config().child_status;
        Planned {
            up_to_date: plan.last_applied.len(),
            replacing: plan.replacing.clone(),
            finished_jobs: plan.finished_jobs.clone(),
            children: lists_children.then(|| children_of(plan)),
            desired: is_asked.then(|| plan.desired()),
        }
    }

    /// What pauses the plan. A pause from before the reconcile holds until its end: the finalizers were not
    /// updated.
    fn keeps(&self, plan: &Plan) -> Option<PausedBy> {
        let began = self.journal.progress().began_paused;
        let by = began.or_else(|| self.paused_by_now())?;
        (by == PausedBy::Annotation || !plan.steps.is_empty()).then_some(by)
    }
}

fn children_of(plan: &Plan) -> Vec<(ChildId, PlannedAs)> {
    let of_step = |step: &Step| {
        let is_wanted = step.final_deletion().is_none();
        (step.id().clone(), if is_wanted { PlannedAs::Wanted } else { PlannedAs::Undesired })
    };
    let mut planned: Vec<_> = plan.last_applied.ids().map(|id| (id, PlannedAs::UpToDate)).collect();
    planned.extend(plan.steps.iter().map(of_step));
    planned.extend(plan.waiting.iter().map(|it| (it.id.clone(), PlannedAs::Undesired)));
    planned.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    planned
}
