//! Handles: calls the handler, reports that it is late, and processes what it returned.

use std::{sync::Arc, time::Duration};

use super::{
    Answer, Effect, HandlerError, Method, Response,
    parent::status::{self, ReturnedStatus, StatusEnd, StatusNext, StatusPart, WantedStatus},
    reconcile::Reconcile,
    stage::{Returning, Stage},
    turn::Next,
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Failure, ReturnedEvent},
    object::Object,
    operator::{Children, HandlerEvent, SyncRequest},
    reply::{ApiError, TypeSchema},
    report::conditions,
};

impl Reconcile {
    /// Calls the handler, for related objects first where the operator has them.
    pub(super) fn handle(&mut self) -> Stage {
        let parent = self.parent().clone();
        if self.lacks_related() {
            let request = SyncRequest::new(parent, Children::default());
            self.effects.push(Effect::Call(Method::Related, request));
            return Stage::Called;
        }
        self.observed = self.view().observed();
        let children = self.settings.ours(&parent, &self.observed);
        self.lap(ReconcileStep::Snapshot);
        let request = SyncRequest::new(parent.clone(), children)
            .with_failures(self.memory.handler_failures.of(&parent))
            .relating(self.related.clone())
            .at(self.now.wall)
            .as_preview(self.preview.is_some());
        let method = if self.is_finalizing() { Method::Finalize } else { Method::Sync };
        self.effects.push(Effect::Call(method, request));
        Stage::Called
    }

    pub(super) fn handler_returned(&mut self, result: Result<Response, HandlerError>) -> Stage {
        if !matches!(result, Ok(Response::Related(_))) {
            self.note([handled(self.parent(), result.is_err())]);
        }
        self.lap(ReconcileStep::Sync);
        match result {
            Ok(Response::Related(related)) => self.related_named(&related),
            Ok(Response::Synced(response)) => self.synced(response),
            Ok(Response::Finalized(response)) => self.finalized(response),
            Err(error) if self.is_finalizing() => self.finalize_failed(error),
            Err(HandlerError { failure, status, events }) => {
                self.mark_outdated();
                self.events_returned(events, true);
                self.note([Fact::Failed(failure)]);
                self.conclude(status.map(ReturnedStatus))
            }
        }
    }

    /// Notes the Events of a response that is not dropped.
    pub(super) fn events_returned(&mut self, events: Vec<HandlerEvent>, of_error: bool) {
        if !events.is_empty() && self.preview.is_none() {
            let events = events.into_iter().map(ReturnedEvent::from).collect();
            self.note([Fact::EventsReturned { of_error, events }]);
        }
    }

    pub(super) fn mark_outdated(&mut self) {
        if self.view().has_left() {
            self.parent_is(End::Outdated);
        }
    }

    // === a handler that is late ===

    /// Reports the timeout of the handler while the reconcile still waits for it.
    pub(super) fn handler_late(&mut self, deadline: Duration) -> Stage {
        let failure = Failure::HandlerTimeout { after: deadline, hangs: true };
        if self.preview.is_some() {
            return self.preview_failed(failure);
        }
        self.effects.push(Effect::ShowNow(failure.clone()));
        let report = self.report();
        let conditions = conditions::of_failure(&failure, &report, &self.id());
        let over = report.over();
        let wanted = WantedStatus { handler: None, conditions, children: None, over };
        let next = self.ask(|view| status::begin(StatusPart::HandlerTimeout, wanted, view));
        self.reporting_timeout(next, None)
    }

    pub(super) fn timeout_answered(
        &mut self,
        state: status::AwaitedStatus,
        returned: Option<Returning>,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| status::answered(state, answer, view));
        self.reporting_timeout(next, returned)
    }

    pub(super) fn schema_read_for_timeout(
        &mut self,
        writing: status::Writing,
        returned: Option<Returning>,
        schema: Result<Option<Arc<TypeSchema>>, ApiError>,
    ) -> Stage {
        let next = self.ask(|view| status::schema_read(writing, schema, view));
        self.reporting_timeout(next, returned)
    }

    /// When the status is written, a response that arrived meanwhile is processed.
    fn reporting_timeout(&mut self, next: StatusNext, returned: Option<Returning>) -> Stage {
        match next {
            Next::Ask(request, state) => {
                self.send(request);
                Stage::ReportingTimeout(state, returned)
            }
            Next::Done(StatusEnd::ReadSchema(writing)) => {
                self.effects.push(Effect::ReadSchema(Vec::new()));
                Stage::ReadingSchemaForTimeout(writing, returned)
            }
            // It has only conditions.
            Next::Done(StatusEnd::Conditions(..) | StatusEnd::Over) => {
                self.read_own_status();
                match returned {
                    Some(returned) => self.handler_returned(*returned),
                    None => Stage::Called,
                }
            }
        }
    }

    /// The next status is compared with the one that was just written, unless the spec changed too: the handler has
    /// not seen that.
    fn read_own_status(&mut self) {
        let generation = self.parent().generation();
        let is_same_spec = |now: &Object| generation.is_some() && now.generation() == generation;
        let now = self.view().parent_now().filter(is_same_spec);
        self.parent = now.or_else(|| self.parent.take());
    }
}

fn handled(parent: &Object, has_failed: bool) -> Fact {
    let (generation, is_deleting) = (parent.generation().unwrap_or(-1), parent.is_deleting());
    Fact::Answered { has_failed, generation, is_deleting }
}
