//! The reply to a patch of the status: written, refused, or to be sent again for a newer version of the parent.

use super::{
    StatusNext, StatusPart, over,
    writing::{AwaitedStatus, Patching, Writing},
};
use crate::{
    journal::Fact,
    object::Object,
    plan::{ChildId, UndeclaredField, is_list_outdated, patched_paths},
    reply::{ApiError, ErrorClass},
    run::{
        drift,
        effect::Cache,
        module_view::View,
        request::{Answer, Reply, Request},
        turn::{Next, Turn},
    },
};

/// So many versions of the parent are patched at most in one reconcile.
const TRIES: usize = 3;

impl Patching {
    pub(super) fn answered(self, answer: Answer, view: &View<'_>) -> Turn<StatusNext> {
        match Reply::written(answer) {
            Ok(reply) if reply != self.parent => self.written(&reply, view),
            Ok(_) => {
                let sent = Fact::StatusSent { change: self.change, is_kept: false };
                Turn::new(()).note(sent).before(self.writing.unchanged())
            }
            Err(error) if self.writing.attempt >= TRIES => self.writing.failed(&error),
            Err(error) if error.code() != Some(404) && error.class() != ErrorClass::Conflict => {
                self.writing.failed(&error)
            }
            Err(error) => {
                let request = Request::Read(ChildId::of(&self.parent));
                Turn::new(Next::Ask(request, Box::new(AwaitedStatus::Looking(self, error))))
            }
        }
    }

    fn written(self, reply: &Object, view: &View<'_>) -> Turn<StatusNext> {
        let Self { writing, patch, change, .. } = self;
        let mut turn = over()
            .cache([Cache::Wrote(reply.clone())])
            .note(Fact::StatusSent { change, is_kept: true })
            .note(Fact::StatusWritten);
        let version = reply.resource_version().clone();
        match writing.part {
            StatusPart::Whole => {
                let is_ours = view.memory.parent() == Some(&version);
                if writing.is_contested && !is_ours {
                    let paths = patch.body.as_ref().map(patched_paths).unwrap_or_default();
                    turn.facts.extend(drift::status_again(view, &paths));
                }
                turn.note(Fact::StatusUpToDate {
                    desired: Some(writing.desired),
                    parent: Some(version),
                })
            }
            // Only the conditions are written, not what the handler returned.
            StatusPart::Conditions => {
                let turn = turn.note(Fact::StatusUpToDate { desired: None, parent: Some(version) });
                turn.before(writing.conditions_written())
            }
            StatusPart::HandlerTimeout => turn,
        }
    }

    pub(super) fn looked(
        self,
        answer: Answer,
        error: &ApiError,
        view: &View<'_>,
    ) -> Turn<StatusNext> {
        let live = match Reply::object(answer) {
            Ok(Some(live)) => live,
            Ok(None) => return self.writing.unchanged(),
            Err(error) => return self.writing.failed(&error),
        };
        if error.code() == Some(404) && live == self.parent {
            // The parent exists, its status subresource does not.
            let handler = self.writing.wanted.handler.as_ref().map(|returned| &returned.0);
            let undeclared = Fact::Undeclared(vec![UndeclaredField::subresource(handler)]);
            return Turn::new(()).note(undeclared).before(self.writing.unchanged());
        }
        let seen = Turn::new(()).cache([Cache::Saw(live.clone())]);
        if self.is_outdated(&live, view) || !is_still_about(&self.parent, &live, view) {
            // The change causes another reconcile, which writes the status.
            return seen.before(self.writing.unchanged());
        }
        let attempt = self.writing.attempt + 1;
        seen.before(Writing { attempt, ..self.writing }.send(self.schema, live, view))
    }

    /// Whether others have changed a list that only the handler can merge.
    fn is_outdated(&self, live: &Object, view: &View<'_>) -> bool {
        let handler = self.writing.wanted.handler.as_ref();
        view.settings.config().shares_status()
            && handler.is_some_and(|it| is_list_outdated(&it.0, &self.writing.seen, live))
    }
}

/// Whether a status computed for one version of a parent applies to another. A parent that left the selection
/// may belong to another operator.
fn is_still_about(parent: &Object, live: &Object, view: &View<'_>) -> bool {
    live.uid() == parent.uid()
        && live.generation() == parent.generation()
        && live.is_deleting() == parent.is_deleting()
        && view.settings.selects(live) == view.settings.selects(parent)
}
