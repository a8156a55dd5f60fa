//! Executes the requests of users: passes them to the parent, sends them to the API server, or does them.

use std::{sync::Arc, time::Duration};

use actix::Context;

use super::{OperatorActor, Parent};
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{Asked, PreviewAsked, Resumed, Touched},
    },
    board::{
        Board, Command, CommandError, CommandRequest, DependantsRequest, EventRequest,
        ExternalChange, OwnersRequest, PauseRequest, Preview, PreviewRequest, Responder,
        WebRequest,
    },
    execute::{now, preview},
    history::Cause,
    object::{Object, ObjectKey, OneLine},
    operator::{ALLOW_DELETION_ANNOTATION, OperatorName, PAUSED_ANNOTATION, Pause},
    reply::{ApiError, ErrorClass},
    run::{Job, Memory},
    schedule::Trigger,
};

/// The longest wait for the end of a pause before it is looked at again.
const LONGEST: Duration = Duration::from_hours(24);

/// What a user changes of a parent, by an annotation.
enum Change {
    Pause(Pause),
    Resume,
    /// The held deletions of this code are allowed.
    Allow(String),
}

impl Receive<Asked> for OperatorActor {
    fn receive(&mut self, Asked { request }: Asked, ctx: &mut Self::Context) {
        match request {
            WebRequest::Command(command) => self.execute(command, ctx),
            WebRequest::External(ExternalChange { operator: _, parent, answer }) => {
                let touched = Touched { trigger: Trigger::Parent, cause: Cause::External };
                answer.give(self.touch(&parent, touched));
            }
            WebRequest::Preview(PreviewRequest { instead: Some(parent), answer, .. }) => {
                self.preview_of(parent, answer);
            }
            WebRequest::Preview(PreviewRequest { operator: _, parent, instead: None, answer }) => {
                match self.known(&parent) {
                    Ok(known) => {
                        post(&known.reconciler, &self.reconcilers.mailbox, PreviewAsked { answer });
                    }
                    Err(error) => answer.give(Err(error)),
                }
            }
            WebRequest::Dependants(DependantsRequest { operator: _, of, depth, answer }) => {
                let context = self.parts.context.clone();
                self.parts.runtime.spawn(async move {
                    answer.give(Ok(context.read_dependants(&of, depth).await));
                });
            }
            WebRequest::Owners(OwnersRequest { operator: _, of, answer }) => {
                let context = self.parts.context.clone();
                self.parts.runtime.spawn(async move {
                    answer.give(Ok(context.read_owners(&of).await));
                });
            }
            WebRequest::Events(EventRequest { operator: _, about, answer }) => {
                let context = self.parts.context.clone();
                self.parts.runtime.spawn(async move {
                    answer.give(Ok(context.read_events(&about).await));
                });
            }
        }
    }
}

impl OperatorActor {
    fn execute(&mut self, command: CommandRequest, ctx: &mut Context<Self>) {
        let CommandRequest { operator: _, command, by, answer } = command;
        let (operator, who) = (self.name(), by.as_deref());
        let shown = OneLine(format_args!("{command:?}"));
        tracing::info!(%operator, command = %shown, by = who, "received a command");
        match command {
            Command::Sync(key) => answer.give(self.sync(&key, by)),
            Command::PauseParent(key, asked) => match asked.begun(now().wall, who) {
                Ok(pause) => self.annotate(key, Change::Pause(pause), by, answer),
                Err(error) => answer.give(Err(error)),
            },
            Command::ResumeParent(key) => self.annotate(key, Change::Resume, by, answer),
            Command::AllowDeletions(key, code) => {
                self.annotate(key, Change::Allow(code), by, answer);
            }
            Command::PauseOperator(asked) => answer.give(self.pause(&asked, who, ctx)),
            Command::ResumeOperator => {
                self.resume(who, ctx);
                answer.give(Ok(()));
            }
        }
    }

    /// Without the memory of a reconcile: it is of the cached parent, if there is one.
    fn preview_of(&self, parent: Object, answer: Responder<Preview>) {
        let context = self.parts.context.clone();
        let (key, uid) = (parent.key().clone(), parent.uid().clone());
        let job = Job { key, uid, after_writes: 0, memory: Memory::default() };
        self.parts.runtime.spawn(async move {
            answer.give(preview(&context, job, Some(parent)).await);
        });
    }

    fn sync(&self, key: &ObjectKey, by: Option<String>) -> Result<(), CommandError> {
        let cause = Cause::Command { by: by.map(String::into_boxed_str) };
        self.touch(key, Touched { trigger: Trigger::Asked, cause })
    }

    fn touch(&self, key: &ObjectKey, touched: Touched) -> Result<(), CommandError> {
        post(&self.known(key)?.reconciler, &self.reconcilers.mailbox, touched);
        Ok(())
    }

    /// Does not wait: the answer is sent when the API server has answered.
    fn annotate(&self, key: ObjectKey, change: Change, by: Option<String>, answer: Responder) {
        let uid = match self.known(&key) {
            Ok(parent) => parent.uid.clone(),
            Err(error) => return answer.give(Err(error)),
        };
        let (context, board) = (self.parts.context.clone(), self.parts.board.clone());
        self.parts.runtime.spawn(async move {
            let (name, value) = change.annotation();
            let result = context.annotate(&key, &uid, (name, value.as_deref())).await;
            if result.is_ok() {
                change.record(&board, (context.name(), &key), by.as_deref());
            }
            answer.give(result.map_err(refused));
        });
    }

    fn pause(
        &mut self,
        asked: &PauseRequest,
        by: Option<&str>,
        ctx: &mut Context<Self>,
    ) -> Result<(), CommandError> {
        let pause = Arc::new(asked.begun(now().wall, by)?);
        self.parts.context.pause(pause.clone());
        self.parts.board.set_paused(self.name(), Some(pause.clone()));
        self.await_end_of(&pause, ctx);
        Ok(())
    }

    fn await_end_of(&mut self, pause: &Arc<Pause>, ctx: &mut Context<Self>) {
        let Some(until) = pause.until else { return self.pause_end.clear(ctx) };
        let left = until.duration_since(now().wall).unwrap_or_default().min(LONGEST);
        let pause = pause.clone();
        self.pause_end.set(
            left,
            ctx,
            |this| &mut this.pause_end,
            move |this, ctx| {
                if pause.is_over(now().wall) {
                    this.resume(None, ctx);
                } else {
                    this.await_end_of(&pause, ctx);
                }
            },
        );
    }

    fn resume(&mut self, by: Option<&str>, ctx: &mut Context<Self>) {
        self.pause_end.clear(ctx);
        if self.parts.context.resume() {
            self.parts.board.resume_operator(self.name(), by);
            for parent in self.parents.values() {
                post(&parent.reconciler, &self.reconcilers.mailbox, Resumed);
            }
        }
    }

    fn known(&self, key: &ObjectKey) -> Result<&Parent, CommandError> {
        self.parents.get(key).ok_or_else(|| CommandError::NoParent {
            operator: self.name().to_string(),
            key: key.clone(),
        })
    }
}

impl Change {
    /// The annotation and its value; none to remove it.
    fn annotation(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Pause(pause) => (PAUSED_ANNOTATION, Some(pause.annotation())),
            Self::Resume => (PAUSED_ANNOTATION, None),
            Self::Allow(code) => (ALLOW_DELETION_ANNOTATION, Some(code.clone())),
        }
    }

    fn record(&self, board: &Board, parent: (&OperatorName, &ObjectKey), by: Option<&str>) {
        match self {
            Self::Pause(pause) => board.record_pause(parent, Some(pause), by),
            Self::Resume => board.record_pause(parent, None, by),
            Self::Allow(_) => board.record_approval(parent, by),
        }
    }
}

/// Passes on the refusal of the API server, with its own code.
fn refused(error: ApiError) -> CommandError {
    let is_another = error.class() == ErrorClass::Conflict;
    match error {
        // The server refuses the uid of a deleted object as invalid.
        ApiError::Refused { refusal, .. } if is_another && refusal.code != 409 => {
            let message =
                format!("the object was replaced by another of its name: {}", refusal.message);
            CommandError::Refused { code: 409, reason: "Conflict".to_owned(), message }
        }
        ApiError::Refused { refusal, .. } => {
            let (code, reason) = (refusal.code, refusal.reason);
            CommandError::Refused { code, reason, message: refusal.message }
        }
        error => CommandError::Unanswered(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Cause as Reason, Refusal};

    #[test]
    fn a_refusal_keeps_the_code_and_the_reason_of_the_server() {
        for (code, reason, field, expected) in [
            (403, "Forbidden", "", (403, "Forbidden")),
            (404, "NotFound", "", (404, "NotFound")),
            (409, "Conflict", "", (409, "Conflict")),
            (422, "Invalid", "spec.x", (422, "Invalid")),
            (422, "Invalid", "metadata.uid", (409, "Conflict")),
        ] {
            let refusal = Box::new(Refusal {
                reason: reason.to_owned(),
                message: "no".to_owned(),
                causes: vec![Reason { field: field.to_owned(), ..Reason::default() }],
                ..Refusal::answered(code)
            });
            let request = "patch /x".to_owned();
            match refused(ApiError::Refused { request, refusal }) {
                CommandError::Refused { code, reason, message } => {
                    assert_eq!((code, reason.as_str()), expected);
                    assert!(message.ends_with("no"), "{message}");
                }
                other => panic!("{other:?}"),
            }
        }
        let after = std::time::Duration::from_secs(30);
        let silent = ApiError::TimedOut { request: "patch /x".to_owned(), after };
        assert!(matches!(refused(silent), CommandError::Unanswered(_)));
    }
}
