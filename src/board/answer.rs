//! The reply channel of a web request, and the errors it may carry.

use tokio::sync::oneshot;

use crate::object::ObjectKey;

/// The reply channel of a request. Dropping it reports that the process is stopping.
#[derive(Debug)]
pub(crate) struct Responder<T = ()>(oneshot::Sender<Result<T, CommandError>>);

/// Why a command was not executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No operator has that name.
    #[error("the operator `{0}` does not exist: see /api/v1/operators")]
    NoOperator(String),
    /// The operator does not manage such a parent, or has not listed it yet.
    #[error("the operator `{operator}` has no parent `{key}`")]
    NoParent {
        /// The operator.
        operator: String,
        /// The parent.
        key: ObjectKey,
    },
    /// The queue of commands is full.
    #[error("the queue of commands is full: try again")]
    Busy,
    /// The process is stopping, or has not started yet.
    #[error("the process accepts no commands while it starts or stops: try again")]
    Closed,
    /// The command cannot be executed as it is.
    #[error("{0}")]
    Invalid(String),
    /// The API server refused the request.
    #[error("{message}")]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The machine-readable reason, for example `Forbidden`.
        reason: String,
        /// The server's message.
        message: String,
    },
    /// The plan of a reconcile cannot be computed now, with the reason.
    #[error("{0}")]
    Undecided(String),
    /// The same, because related objects are being listed.
    #[error("{0}")]
    NotYet(String),
    /// The API server did not answer, or its answer cannot be decoded.
    #[error("{0}")]
    Unanswered(String),
}

impl<T> Responder<T> {
    /// An answer and its receiver.
    pub(super) fn channel() -> (Self, oneshot::Receiver<Result<T, CommandError>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    /// An answer that nobody waits for.
    #[cfg(test)]
    pub(crate) fn nobody() -> Self {
        Self::channel().0
    }

    pub(crate) fn give(self, result: Result<T, CommandError>) {
        // The requester may be gone.
        let _ = self.0.send(result);
    }
}
