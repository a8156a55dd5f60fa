//! Reports: from the end of the writes to the end of the reconcile, with the status of the parent.

use std::sync::Arc;

use super::{
    Answer, Effect,
    parent::{
        readiness,
        status::{self, Returned, Scope, Wanted},
    },
    reconcile::{Moment, Reconcile},
    stage::{Stage, Then},
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, RequestFailure},
    plan::ChildId,
    reply::{ApiError, TypeSchema},
    report::{child_status, conditions},
};

/// The third reconcile in a row that writes children also writes the status.
const LAST_WITHOUT_STATUS: u32 = 1;

impl Reconcile {
    pub(super) fn conclude(&mut self, status: Option<Returned>, at: &Moment<'_>) -> Stage {
        if !self.is_alive() || self.preview.is_some() {
            return self.finish(at);
        }
        if let Some(decoration) = self.decoration.take() {
            return self.decorate(decoration, status, at);
        }
        if self.is_finalizing() && !self.takes_leave() {
            self.parent_is(End::Finalizing, at);
        }
        let progress = self.journal.progress();
        let is_time = progress.has_settled() || self.after_writes > LAST_WITHOUT_STATUS;
        if progress.has_failed_for_good() {
            self.note([Fact::ChildrenNotRetried], at);
        }
        if is_time { self.judge_readiness(status, at) } else { self.finish(at) }
    }

    /// Judges whether the parent is ready, unless something is not up to date.
    pub(super) fn judge_readiness(&mut self, status: Option<Returned>, at: &Moment<'_>) -> Stage {
        if self.journal.progress().is_up_to_date() && !self.is_incomplete() {
            if self.effects.iter().any(|effect| matches!(effect, Effect::Cache(_))) {
                self.effects.push(Effect::Resume);
                return Stage::Judging(status);
            }
            let returned = status.as_ref().map(|returned| &returned.0);
            let (uncounted, finished_jobs) = (&self.uncounted, &self.finished_jobs);
            let facts = readiness::judged(returned, uncounted, finished_jobs, &self.view(at));
            self.note(facts, at);
        }
        self.write_status(status, at)
    }

    pub(super) fn write_status(&mut self, status: Option<Returned>, at: &Moment<'_>) -> Stage {
        if self.awaits_redactor(at) {
            return Stage::ReadingSchema(Then::WriteStatus(status));
        }
        if self.settings.config().decorates {
            return self.decorate_status(status, at);
        }
        self.begin_status(at);
        let report = self.report(at);
        let cached = |id: &ChildId| self.view(at).snapshot.cached(id);
        let wanted = Wanted {
            handler: status,
            conditions: conditions::of_report(&report),
            children: child_status::listed(&report, self.memory.last_applied(), &cached),
            over: report.over(),
        };
        let next = self.ask(at, |view| status::begin(Scope::Whole, wanted, view));
        self.writing_status(next, at)
    }

    pub(super) fn begin_status(&mut self, at: &Moment<'_>) {
        let news = self.memory.flapping().news();
        self.note(news.into_iter().map(|(why, message)| Fact::Flapping(why, message)), at);
        self.note([Fact::StatusBegan], at);
    }

    pub(super) fn status_answered(
        &mut self,
        state: status::State,
        answer: Answer,
        at: &Moment<'_>,
    ) -> Stage {
        let next = self.ask(at, |view| status::answered(state, answer, view));
        self.writing_status(next, at)
    }

    fn writing_status(&mut self, next: status::Next, at: &Moment<'_>) -> Stage {
        match next {
            status::Next::Ask(request, state) => {
                self.send(request);
                Stage::WritingStatus(state)
            }
            status::Next::ReadSchema(writing) => {
                self.effects.push(Effect::ReadSchema(Vec::new()));
                Stage::ReadingSchema(Then::ResumeStatus(writing))
            }
            status::Next::Conditions(refused, had_failed) => {
                self.write_conditions(refused, had_failed, at)
            }
            status::Next::Done => {
                self.lap(ReconcileStep::Status, at);
                self.finish(at)
            }
        }
    }

    fn write_conditions(
        &mut self,
        refused: RequestFailure,
        had_failed: bool,
        at: &Moment<'_>,
    ) -> Stage {
        if self.awaits_redactor(at) {
            return Stage::ReadingSchema(Then::WriteConditions(refused, had_failed));
        }
        let report = self.report(at);
        let (conditions, over) = (conditions::of_report(&report), report.over());
        let next = self
            .ask(at, |view| status::begin_conditions(conditions, over, refused, had_failed, view));
        self.writing_status(next, at)
    }

    pub(super) fn schema_read(
        &mut self,
        then: Then,
        schema: Result<Option<Arc<TypeSchema>>, ApiError>,
        at: &Moment<'_>,
    ) -> Stage {
        match then {
            Then::ResumeStatus(writing) => {
                let next = self.ask(at, |view| status::schema_read(*writing, schema, view));
                self.writing_status(next, at)
            }
            Then::WriteStatus(status) => {
                self.redact(&schema, at);
                self.write_status(status, at)
            }
            Then::WriteConditions(refused, had_failed) => {
                self.redact(&schema, at);
                self.write_conditions(refused, had_failed, at)
            }
            Then::Finish => {
                self.redact(&schema, at);
                self.finish(at)
            }
        }
    }
}
