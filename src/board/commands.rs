//! What a person may order over the web, and the bounded channel by which it reaches those who act.
//! Values only: who carries an order out, and who may give it, is decided elsewhere.

use tokio::sync::{mpsc, oneshot};

use super::{Board, EventRequest, PreviewRequest};
use crate::object::ObjectKey;

/// What is ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
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

/// An order on its way.
#[derive(Debug)]
pub struct Command {
    /// Who is to carry it out.
    pub operator: String,
    /// What is ordered.
    pub order: Order,
    /// Who ordered it, if that is known.
    pub by: Option<String>,
    /// The way back.
    pub answer: Answer,
}

/// What comes over the web.
#[derive(Debug)]
pub enum Request {
    /// An order, to be carried out.
    Command(Command),
    /// A question about what a run would do.
    Preview(PreviewRequest),
    /// A question about what Kubernetes tells.
    Events(EventRequest),
}

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
    /// What a run would do cannot be said now, and why.
    #[error("{0}")]
    Undecided(String),
    /// The API server did not answer, or what it answered cannot be read.
    #[error("{0}")]
    Unanswered(String),
}

/// So many commands may wait: people give few, and one that waits costs little.
const WAITING: usize = 64;

impl Board {
    /// Begins to take commands; who holds the receiver carries them out. It ends with
    /// [`Board::begin_stopping`].
    pub fn take_commands(&self) -> mpsc::Receiver<Request> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.write().commands = Some(sender);
        receiver
    }

    /// Orders something, and returns when it is done.
    ///
    /// # Errors
    /// When it could not be done; see [`CommandError`].
    pub async fn command(
        &self,
        operator: &str,
        order: Order,
        by: Option<String>,
    ) -> Result<(), CommandError> {
        let operator = operator.to_owned();
        self.request(|answer| Request::Command(Command { operator, order, by, answer })).await
    }

    pub(super) async fn request<T>(
        &self,
        request: impl FnOnce(Answer<T>) -> Request,
    ) -> Result<T, CommandError> {
        let (answer, answered) = oneshot::channel();
        let sender = self.read().commands.clone().ok_or(CommandError::Closed)?;
        let sent = sender.try_send(request(Answer(answer)));
        sent.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => CommandError::Busy,
            mpsc::error::TrySendError::Closed(_) => CommandError::Closed,
        })?;
        answered.await.unwrap_or(Err(CommandError::Closed))
    }
}

impl Request {
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

impl<T> Answer<T> {
    /// One that nobody waits for.
    #[cfg(test)]
    pub(crate) fn nobody() -> Self {
        Self(oneshot::channel().0)
    }

    /// Says what became of the order.
    pub fn give(self, result: Result<T, CommandError>) {
        // Who asked may have gone.
        let _ = self.0.send(result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync() -> Order {
        Order::Sync(ObjectKey::namespaced("ns", "a"))
    }

    #[tokio::test]
    async fn an_order_comes_back_with_its_answer() {
        let board = Board::new();
        let mut commands = board.take_commands();
        let obeying = async {
            let Some(Request::Command(command)) = commands.recv().await else { panic!() };
            let refused = CommandError::NoOperator(command.operator.clone());
            assert_eq!((command.order.clone(), command.by.as_deref()), (sync(), Some("ada")));
            command.answer.give(Err(refused));
        };
        let asking = board.command("op", sync(), Some("ada".to_owned()));
        let (answer, ()) = tokio::join!(asking, obeying);
        assert_eq!(answer, Err(CommandError::NoOperator("op".to_owned())));
    }

    #[tokio::test]
    async fn nobody_waits_for_an_answer_that_cannot_come() {
        let board = Board::new();
        let ask = || board.command("op", sync(), None);
        assert_eq!(ask().await, Err(CommandError::Closed), "before the start");
        let mut commands = board.take_commands();
        let dropping = async { drop(commands.recv().await) };
        let (answer, ()) = tokio::join!(ask(), dropping);
        assert_eq!(answer, Err(CommandError::Closed), "dropped without an answer");
        let waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(ask())).collect();
        let mut waiting = futures::future::join_all(waiting);
        assert!(futures::poll!(&mut waiting).is_pending());
        assert_eq!(ask().await, Err(CommandError::Busy));
        board.begin_stopping();
        assert_eq!(ask().await, Err(CommandError::Closed), "after the end");
        drop(commands);
        assert!(waiting.await.iter().all(|answer| *answer == Err(CommandError::Closed)));
    }
}
