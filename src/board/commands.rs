//! The commands that a user may give over the web. Values only: execution and authorization are
//! elsewhere.

use super::{
    CommandError, DependantsRequest, EventRequest, OwnersRequest, PauseRequest, PreviewRequest,
    Responder,
};
use crate::object::ObjectKey;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Reconcile a parent now, even during a backoff or after a permanent failure.
    Sync(ObjectKey),
    /// Set the annotation that pauses a parent, instead of any other value of it.
    PauseParent(ObjectKey, PauseRequest),
    /// Remove that annotation.
    ResumeParent(ObjectKey),
    /// Set the annotation that allows the deletions of this code, which are held.
    AllowDeletions(ObjectKey, String),
    /// Write no child and no finalizer of any parent of the operator, until the pause or the process ends. It replaces an
    /// earlier pause.
    PauseOperator(PauseRequest),
    /// Resume the operator.
    ResumeOperator,
}

#[derive(Debug)]
pub(crate) struct CommandRequest {
    pub(crate) operator: String,
    pub(crate) command: Command,
    pub(crate) by: Option<String>,
    pub(crate) answer: Responder,
}

/// A report of the program: something outside of Kubernetes changed that a parent depends on.
#[derive(Debug)]
pub(crate) struct ExternalChange {
    pub(crate) operator: String,
    pub(crate) parent: ObjectKey,
    pub(crate) answer: Responder,
}

/// What the web and the program ask of an operator.
#[derive(Debug)]
pub(crate) enum WebRequest {
    /// A command.
    Command(CommandRequest),
    /// A change outside of Kubernetes.
    External(ExternalChange),
    /// A query for what a reconcile would do.
    Preview(PreviewRequest),
    /// A query for Kubernetes Events.
    Events(EventRequest),
    /// A query for what Kubernetes makes of children.
    Dependants(DependantsRequest),
    /// A query for who set which field.
    Owners(OwnersRequest),
}

impl WebRequest {
    pub(crate) fn operator(&self) -> &str {
        match self {
            Self::Command(command) => &command.operator,
            Self::External(change) => &change.operator,
            Self::Preview(preview) => &preview.operator,
            Self::Events(events) => &events.operator,
            Self::Dependants(dependants) => &dependants.operator,
            Self::Owners(owners) => &owners.operator,
        }
    }

    pub(crate) fn refuse(self, error: CommandError) {
        match self {
            Self::Command(command) => command.answer.give(Err(error)),
            Self::External(change) => change.answer.give(Err(error)),
            Self::Preview(preview) => preview.answer.give(Err(error)),
            Self::Events(events) => events.answer.give(Err(error)),
            Self::Dependants(dependants) => dependants.answer.give(Err(error)),
            Self::Owners(owners) => owners.answer.give(Err(error)),
        }
    }
}
