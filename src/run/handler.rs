//! From the response of the handler to a plan.

use std::time::Duration;

use super::{
    Effect, HandlerError, Machine, Moment, Response, drift,
    parent::status::{self, Returned, Scope, Wanted},
    stage::{Call, CarryOut, Phase, Sequence, Stage},
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, PausedBy, Plan as PlanOf, Planned},
    object::Object,
    operator::DecoratorResponse,
    plan::{self, ChildId, Desired, Plan, PlanInput, Refusal, Step},
    report::{conditions, finished_jobs},
};

impl Machine {
    /// Reports the timeout of the handler while the reconcile still waits for it.
    pub(super) fn handler_timed_out(&mut self, deadline: Duration, at: &Moment<'_>) {
        let Stage::Called(call) = &mut self.stage else { return };
        let failure = Failure::HandlerTimeout(deadline);
        if self.preview.is_some() {
            return self.preview_failed(failure, at);
        }
        call.reports_timeout = true;
        self.effects.push(Effect::ShowNow(failure.clone()));
        let report = self.report(at);
        let conditions = conditions::of_failure(&failure, &report);
        let over = report.over();
        let wanted = Wanted { handler: None, conditions, children: None, over };
        let next = self.ask(at, |view| status::begin(Scope::HandlerTimeout, wanted, view));
        self.status_next(next, at);
    }

    /// The status with the timeout is written: a response that arrived meanwhile is processed now.
    pub(super) fn timeout_reported(&mut self, at: &Moment<'_>) {
        self.read_own_status(at);
        if let Stage::Called(call) = &mut self.stage {
            call.reports_timeout = false;
            if let Some(returned) = call.returned.take() {
                self.handler_returned(*returned, at);
            }
        }
    }

    /// The next status is compared with the one that was just written, unless the spec changed too: the handler has
    /// not seen that.
    fn read_own_status(&mut self, at: &Moment<'_>) {
        let generation = self.parent.as_ref().and_then(Object::generation);
        let (key, uid) = (self.key.clone(), self.uid.clone());
        let cached = self.view(at, |view| view.snapshot.parent(&key, &uid)).flatten();
        let is_same_spec =
            |cached: &Object| generation.is_some() && cached.generation() == generation;
        self.parent = cached.filter(is_same_spec).or_else(|| self.parent.take());
    }

    pub(super) fn handler_returned(
        &mut self,
        result: Result<Response, HandlerError>,
        at: &Moment<'_>,
    ) {
        if let Stage::Called(call @ Call { reports_timeout: true, .. }) = &mut self.stage {
            call.returned = Some(Box::new(result));
            return;
        }
        let Some(parent) = self.parent.clone() else { return };
        if let Ok(Response::Related(related)) = &result {
            self.lap(ReconcileStep::Sync, at);
            return self.related_named(related, at);
        }
        self.note([handled(&parent, result.is_err())], at);
        self.lap(ReconcileStep::Sync, at);
        match result {
            // Processed above: it is no answer of `sync`.
            Ok(Response::Related(_)) => {}
            Ok(Response::Synced(response)) => self.synced(response, at),
            Ok(Response::Finalized(response)) => self.finalized(response, at),
            Err(error) if self.is_finalizing() => self.finalize_failed(error, at),
            Err(HandlerError { failure, status }) => {
                self.mark_outdated(at);
                self.note([Fact::Failed(failure)], at);
                self.conclude(status.map(Returned), at);
            }
        }
    }

    pub(super) fn is_finalizing(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| self.settings.is_leaving(parent))
    }

    fn mark_outdated(&mut self, at: &Moment<'_>) {
        if self.has_left(at) {
            self.parent_is(End::Outdated, at);
        }
    }

    fn synced(&mut self, response: DecoratorResponse, at: &Moment<'_>) {
        let DecoratorResponse { response, decoration } = response;
        self.keep_returned(&response.children);
        self.mark_outdated(at);
        if let Some(why) = &response.unserializable {
            self.note([Fact::Failed(Failure::unserializable(why))], at);
            return self.conclude(None, at);
        }
        if !self.is_alive() {
            return self.conclude(None, at);
        }
        let decoration = match decoration.checked(self.settings.config()) {
            Ok(decoration) => decoration,
            Err(refusals) => return self.refused(refusals, response.status.map(Returned), at),
        };
        let desired = Desired { children: response.children, stages: response.stages };
        if self.preview.is_some() {
            let status = response.status.as_ref();
            return self.preview_planned((desired, status), &decoration, at);
        }
        self.note(response.resync.map(Fact::Resync), at);
        let status = response.status.map(Returned);
        match self.planned(desired, at) {
            Ok(plan) => {
                self.decoration = self.settings.config().is_decorator().then_some(decoration);
                self.carry_out(plan, status, at);
            }
            Err(refusals) => self.refused(refusals, status, at),
        }
    }

    fn refused(&mut self, refusals: Vec<Refusal>, status: Option<Returned>, at: &Moment<'_>) {
        if self.preview.is_some() {
            return self.preview_failed(Failure::Refused(refusals), at);
        }
        self.note([Fact::Failed(Failure::Refused(refusals))], at);
        self.conclude(status, at);
    }

    pub(super) fn planned(
        &mut self,
        desired: Desired,
        at: &Moment<'_>,
    ) -> Result<Plan, Vec<Refusal>> {
        let plan = self.view(at, |view| {
            let mut finished_jobs =
                finished_jobs::shown_by(&view.condition_names().alone(view.parent));
            finished_jobs.merge(view.memory.finished_jobs());
            plan::plan(PlanInput {
                config: self.settings.config(),
                operator: self.settings.name(),
                parent: view.parent,
                desired,
                observed: &self.observed,
                unsynced: &view.snapshot.unsynced(view.parent),
                last_applied: self.memory.last_applied(),
                finished_jobs: &finished_jobs,
                keeps_undesired: self.settings.is_leaving(view.parent)
                    && !self.settings.takes_leave(view.parent),
            })
        });
        self.lap(ReconcileStep::Plan, at);
        plan.unwrap_or_else(|| Ok(Plan::default()))
    }

    /// A paused plan is reported, not carried out.
    pub(super) fn carry_out(&mut self, mut plan: Plan, status: Option<Returned>, at: &Moment<'_>) {
        let paused = self.keeps(&plan, at);
        if paused.is_none() {
            self.drift = self
                .view(at, |view| drift::foresee(view, &plan, &self.observed))
                .unwrap_or_default();
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
        self.note([Fact::Planned(planned)], at);
        let phase = Phase::Doubtful(doubtful);
        self.stage = Stage::CarryingOut(CarryOut {
            status,
            steps,
            waiting,
            sequence: Sequence::of(order, rollouts, leaving),
            replacing,
            existing,
            paused,
            phase,
            taken: None,
        });
        self.check_doubtful(at);
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
    fn keeps(&self, plan: &Plan, at: &Moment<'_>) -> Option<PausedBy> {
        let began = self.journal.progress().began_paused;
        let by = began.or_else(|| self.paused_by_now(at))?;
        (by == PausedBy::Annotation || !plan.steps.is_empty()).then_some(by)
    }
}

fn handled(parent: &Object, has_failed: bool) -> Fact {
    let (generation, is_deleting) = (parent.generation().unwrap_or(-1), parent.is_deleting());
    Fact::Answered { has_failed, generation, is_deleting }
}

fn children_of(plan: &Plan) -> Vec<(ChildId, PlanOf)> {
    let of_step = |step: &Step| {
        let is_wanted = step.final_deletion().is_none();
        (step.id().clone(), if is_wanted { PlanOf::Wanted } else { PlanOf::Undesired })
    };
    let mut planned: Vec<_> = plan.last_applied.ids().map(|id| (id, PlanOf::UpToDate)).collect();
    planned.extend(plan.steps.iter().map(of_step));
    planned.extend(plan.waiting.iter().map(|it| (it.id.clone(), PlanOf::Undesired)));
    planned.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    planned
}
