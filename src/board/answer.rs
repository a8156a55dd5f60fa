//! The way back to who asked over the web, and why it may bring no answer.

use tokio::sync::oneshot;

use crate::object::ObjectKey;

/// The way back to who asked. Dropping it says that the process ends.
#[derive(Debug)]
pub struct Answer<T = ()>(oneshot::Sender<Result<T, CommandError>>);

/// Why an order was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No operator has that name.
    #[error("there is no operator `{0}`: /api/v1/operators lists them")]
    NoOperator(String),
    /// The operator does not answer for such a parent, or has not begun to.
    #[error("the operator `{operator}` knows no parent `{key}`")]
    NoParent {
        /// The operator.
        operator: String,
        /// The parent.
        key: ObjectKey,
    },
    /// More commands wait than can be carried out.
    #[error("too many commands wait to be carried out: try again")]
    Busy,
    /// The process ends, or has not begun yet.
    #[error("the process does not take commands now: it is starting or stopping")]
    Closed,
    /// The API server refused what it takes.
    #[error("{message}")]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The machine-readable reason, for example `Forbidden`.
        reason: String,
        /// What the server said.
        message: String,
    },
    /// What a reconcile would do cannot be said now, and why.
    #[error("{0}")]
    Undecided(String),
    /// The API server did not answer, or what it answered cannot be read.
    #[error("{0}")]
    Unanswered(String),
}

impl<T> Answer<T> {
    /// One, and where it arrives.
    pub(super) fn channel() -> (Self, oneshot::Receiver<Result<T, CommandError>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    /// One that nobody waits for.
    #[cfg(test)]
    pub(crate) fn nobody() -> Self {
        Self::channel().0
    }

    /// Says what became of the order.
    pub fn give(self, result: Result<T, CommandError>) {
        // Who asked may have gone.
        let _ = self.0.send(result);
    }
}
