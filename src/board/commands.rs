//! What a user may command over the web. Values only: who carries out a command, and who may give it,
//! is decided elsewhere.

use super::{Answer, CommandError, EventRequest, PreviewRequest};
use crate::object::ObjectKey;

/// What is ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Run a parent now: a backoff is over, and one that rests after a permanent failure runs too.
    Sync(ObjectKey),
    /// Put the annotation on a parent that pauses it.
    PauseParent(ObjectKey),
    /// Take that annotation off.
    ResumeParent(ObjectKey),
    /// Write no child and no finalizer of any parent of the operator, until the process ends.
    PauseOperator,
    /// End that.
    ResumeOperator,
}

/// A command on its way.
#[derive(Debug)]
pub struct CommandRequest {
    /// Who is to carry it out.
    pub operator: String,
    /// What is ordered.
    pub command: Command,
    /// Who ordered it, if that is known.
    pub by: Option<String>,
    /// The way back.
    pub answer: Answer,
}

/// What comes over the web.
#[derive(Debug)]
pub enum WebRequest {
    /// A command, to be carried out.
    Command(CommandRequest),
    /// A question about what a reconcile would do.
    Preview(PreviewRequest),
    /// A question about what Kubernetes tells.
    Events(EventRequest),
}

impl WebRequest {
    /// Whom it is about.
    pub fn operator(&self) -> &str {
        match self {
            Self::Command(command) => &command.operator,
            Self::Preview(preview) => &preview.operator,
            Self::Events(events) => &events.operator,
        }
    }

    /// Says that it was not done.
    pub fn refuse(self, error: CommandError) {
        match self {
            Self::Command(command) => command.answer.give(Err(error)),
            Self::Preview(preview) => preview.answer.give(Err(error)),
            Self::Events(events) => events.answer.give(Err(error)),
        }
    }
}
