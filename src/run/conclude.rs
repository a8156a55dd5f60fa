//! From the end of the writes to the end of the reconcile: writes the status.

use std::sync::Arc;

use super::{
    Effect, Machine, Moment,
    parent::{
        readiness,
        status::{self, Returned, Scope, Wanted},
    },
    stage::{Awaited, Stage, Then},
    view::View,
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

impl Machine {
    pub(super) fn conclude(&mut self, status: Option<Returned>, at: &Moment<'_>) {
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
    pub(super) fn judge_readiness(&mut self, status: Option<Returned>, at: &Moment<'_>) {
        if self.journal.progress().is_up_to_date() && !self.is_incomplete() {
            if self.effects.iter().any(|effect| matches!(effect, Effect::Cache(_))) {
                self.stage = Stage::Judging(status);
                return self.effects.push(Effect::Resume);
            }
            let returned = status.as_ref().map(|returned| &returned.0);
            let judged = |view: &View<'_>| {
                readiness::judged(returned, &self.uncounted, &self.finished_jobs, view)
            };
            let facts = self.view(at, judged).unwrap_or_default();
            self.note(facts, at);
        }
        self.write_status(status, at);
    }

    pub(super) fn write_status(&mut self, status: Option<Returned>, at: &Moment<'_>) {
        if self.awaits_redactor(at) {
            self.stage = Stage::Redacting(Then::WriteStatus(status));
            return;
        }
        if self.settings.config().is_decorator() {
            return self.decorate_status(status, at);
        }
        self.stage = Stage::WritingStatus;
        let news = self.memory.flapping().news();
        self.note(news.into_iter().map(|(why, message)| Fact::Flapping(why, message)), at);
        self.note([Fact::StatusBegan], at);
        let report = self.report(at);
        let cached = |id: &ChildId| self.view(at, |view| view.snapshot.cached(id)).flatten();
        let wanted = Wanted {
            handler: status,
            conditions: conditions::of_report(&report),
            children: child_status::listed(&report, self.memory.last_applied(), &cached),
            over: report.over(),
        };
        let next = self.ask(at, |view| status::begin(Scope::Whole, wanted, view));
        self.status_next(next, at);
    }

    pub(super) fn status_next(&mut self, next: Option<status::Next>, at: &Moment<'_>) {
        match next {
            Some(status::Next::Ask(request, state)) => self.send(request, Awaited::Status(state)),
            Some(status::Next::ReadSchema(writing)) => {
                if let Stage::Called(call) = &mut self.stage {
                    call.writing = Some(writing);
                } else {
                    self.stage = Stage::Redacting(Then::ResumeStatus(writing));
                }
                self.effects.push(Effect::ReadSchema(Vec::new()));
            }
            Some(status::Next::Conditions(refused, had_failed)) => {
                self.write_conditions(refused, had_failed, at);
            }
            Some(status::Next::Done) if matches!(self.stage, Stage::Called(_)) => {
                self.timeout_reported(at);
            }
            Some(status::Next::Done) => {
                self.lap(ReconcileStep::Status, at);
                self.finish(at);
            }
            None => {}
        }
    }

    fn write_conditions(&mut self, refused: RequestFailure, had_failed: bool, at: &Moment<'_>) {
        if self.awaits_redactor(at) {
            self.stage = Stage::Redacting(Then::WriteConditions(refused, had_failed));
            return;
        }
        let report = self.report(at);
        let (conditions, over) = (conditions::of_report(&report), report.over());
        let begin =
            |view: &View<'_>| status::begin_conditions(conditions, over, refused, had_failed, view);
        let next = self.ask(at, begin);
        self.status_next(next, at);
    }

    pub(super) fn schema_read(
        &mut self,
        schema: Result<Option<Arc<TypeSchema>>, ApiError>,
        at: &Moment<'_>,
    ) {
        if let Stage::Called(call) = &mut self.stage {
            let Some(writing) = call.writing.take() else { return };
            let next = self.ask(at, |view| status::schema_read(*writing, schema, view));
            return self.status_next(next, at);
        }
        match std::mem::replace(&mut self.stage, Stage::WritingStatus) {
            Stage::Redacting(Then::WriteStatus(status)) => {
                self.redact(&schema, at);
                self.write_status(status, at);
            }
            Stage::Redacting(Then::WriteConditions(refused, had_failed)) => {
                self.redact(&schema, at);
                self.write_conditions(refused, had_failed, at);
            }
            Stage::Redacting(Then::Finish) => {
                self.redact(&schema, at);
                self.finish(at);
            }
            Stage::Redacting(Then::ResumeStatus(writing)) => {
                let next = self.ask(at, |view| status::schema_read(*writing, schema, view));
                self.status_next(next, at);
            }
            stage => self.stage = stage,
        }
    }
}
