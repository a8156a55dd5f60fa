//! Reports: from the end of the writes to the end of the reconcile, with the status of the parent.

use std::sync::Arc;

use super::{
    Answer, Effect,
    parent::{
        readiness,
        status::{self, ReturnedStatus, StatusEnd, StatusNext, StatusPart, WantedStatus},
    },
    reconcile::Reconcile,
    stage::{Stage, Then},
    turn::Next,
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, RequestFailure},
    plan::ChildId,
    reply::{ApiError, TypeSchema},
    report::{child_status, conditions},
};

impl Reconcile {
    pub(super) fn conclude(&mut self, status: Option<ReturnedStatus>) -> Stage {
        if !self.is_alive() || self.preview.is_some() {
            return self.finish();
        }
        if let Some(decoration) = self.decoration.take() {
            return self.decorate(decoration, status);
        }
        if self.is_finalizing() && !self.takes_leave() {
            self.parent_is(End::Finalizing);
        }
        let progress = self.journal.progress();
        let is_due = status::is_due(progress, self.after_writes);
        if progress.has_failed_for_good() {
            self.note([Fact::ChildrenNotRetried]);
        }
        if is_due { self.judge_readiness(status) } else { self.finish() }
    }

    /// Judges whether the parent is ready, unless something is not up to date.
    pub(super) fn judge_readiness(&mut self, status: Option<ReturnedStatus>) -> Stage {
        if self.journal.progress().is_up_to_date() && !self.is_incomplete() {
            if self.effects.iter().any(|effect| matches!(effect, Effect::Cache(_))) {
                self.effects.push(Effect::Resume);
                return Stage::Judging(status);
            }
            let returned = status.as_ref().map(|returned| &returned.0);
            let (uncounted, finished_jobs) = (&self.uncounted, &self.finished_jobs);
            let facts = readiness::judged(returned, uncounted, finished_jobs, &self.view());
            self.note(facts);
        }
        self.write_status(status)
    }

    pub(super) fn write_status(&mut self, status: Option<ReturnedStatus>) -> Stage {
        if self.awaits_redactor() {
            return Stage::ReadingSchema(Then::WriteStatus(status));
        }
        if self.settings.config().is_decorator() {
            return self.decorate_status(status);
        }
        self.begin_status();
        let report = self.report();
        let cached = |id: &ChildId| self.view().snapshot.cached(id);
        let wanted = WantedStatus {
            handler: status,
            conditions: conditions::of_report(&report),
            children: child_status::listed(&report, self.memory.last_applied(), &cached),
            over: report.over(),
        };
        let next = self.ask(|view| status::begin(StatusPart::Whole, wanted, view));
        self.writing_status(next)
    }

    pub(super) fn begin_status(&mut self) {
        let news = self.memory.flapping().news();
        self.note(news.into_iter().map(|(why, message)| Fact::Flapping(why, message)));
        self.note([Fact::StatusBegan]);
    }

    pub(super) fn status_answered(
        &mut self,
        state: status::AwaitedStatus,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| status::answered(state, answer, view));
        self.writing_status(next)
    }

    fn writing_status(&mut self, next: StatusNext) -> Stage {
        match next {
            Next::Ask(request, state) => {
                self.send(request);
                Stage::WritingStatus(state)
            }
            Next::Done(StatusEnd::ReadSchema(writing)) => {
                self.effects.push(Effect::ReadSchema(Vec::new()));
                Stage::ReadingSchema(Then::ResumeStatus(writing))
            }
            Next::Done(StatusEnd::Conditions(refused, had_failed)) => {
                self.write_conditions(refused, had_failed)
            }
            Next::Done(StatusEnd::Over) => {
                self.lap(ReconcileStep::Status);
                self.finish()
            }
        }
    }

    fn write_conditions(&mut self, refused: RequestFailure, had_failed: bool) -> Stage {
        if self.awaits_redactor() {
            return Stage::ReadingSchema(Then::WriteConditions(refused, had_failed));
        }
        let report = self.report();
        let (conditions, over) = (conditions::of_report(&report), report.over());
        let next =
            self.ask(|view| status::begin_conditions(conditions, over, refused, had_failed, view));
        self.writing_status(next)
    }

    pub(super) fn schema_read(
        &mut self,
        then: Then,
        schema: Result<Option<Arc<TypeSchema>>, ApiError>,
    ) -> Stage {
        match then {
            Then::Plan(returned) => self.plan_returned(*returned),
            Then::ResumeStatus(writing) => {
                let next = self.ask(|view| status::schema_read(*writing, schema, view));
                self.writing_status(next)
            }
            Then::WriteStatus(status) => {
                self.redact(&schema);
                self.write_status(status)
            }
            Then::WriteConditions(refused, had_failed) => {
                self.redact(&schema);
                self.write_conditions(refused, had_failed)
            }
            Then::Finish => {
                self.redact(&schema);
                self.finish()
            }
        }
    }
}
