//! Asking over the web: the bounded channel by which commands and questions reach those who act, and
//! the wait for their answer.

use tokio::sync::mpsc;

use super::{
    Answer, Board, Command, CommandError, CommandRequest, EventReading, EventRequest, EventSubject,
    Preview, PreviewRequest, WebRequest,
};
use crate::object::ObjectKey;

/// So many commands may wait: people give few, and one that waits costs little.
const WAITING: usize = 64;

impl Board {
    /// Begins to take commands; who holds the receiver carries them out. It ends with
    /// [`Board::begin_stopping`].
    pub fn take_commands(&self) -> mpsc::Receiver<WebRequest> {
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
        command: Command,
        by: Option<String>,
    ) -> Result<(), CommandError> {
        let operator = operator.to_owned();
        self.request(|answer| WebRequest::Command(CommandRequest { operator, command, by, answer }))
            .await
    }

    /// Asks what a reconcile of a parent would do now. Its handler is asked, and nothing is written.
    ///
    /// # Errors
    /// When that cannot be said; see [`CommandError`].
    pub async fn preview(
        &self,
        operator: &str,
        parent: ObjectKey,
    ) -> Result<Preview, CommandError> {
        let operator = operator.to_owned();
        let request = |answer| WebRequest::Preview(PreviewRequest { operator, parent, answer });
        self.request(request).await
    }

    /// Asks the API server for the Events about some objects, with the permissions of an operator. Of
    /// many objects only the first are asked about; nothing of it is kept.
    ///
    /// # Errors
    /// When nobody can ask; what the server refuses is in the answer.
    pub async fn read_events(
        &self,
        operator: &str,
        about: Vec<EventSubject>,
    ) -> Result<EventReading, CommandError> {
        let operator = operator.to_owned();
        let request = |answer| WebRequest::Events(EventRequest { operator, about, answer });
        self.request(request).await
    }

    async fn request<T>(
        &self,
        request: impl FnOnce(Answer<T>) -> WebRequest,
    ) -> Result<T, CommandError> {
        let (answer, answered) = Answer::channel();
        let sender = self.read().commands.clone().ok_or(CommandError::Closed)?;
        let sent = sender.try_send(request(answer));
        sent.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => CommandError::Busy,
            mpsc::error::TrySendError::Closed(_) => CommandError::Closed,
        })?;
        answered.await.unwrap_or(Err(CommandError::Closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync() -> Command {
        Command::Sync(ObjectKey::namespaced("ns", "a"))
    }

    #[tokio::test]
    async fn an_order_comes_back_with_its_answer() {
        let board = Board::new();
        let mut commands = board.take_commands();
        let obeying = async {
            let Some(WebRequest::Command(command)) = commands.recv().await else { panic!() };
            let refused = CommandError::NoOperator(command.operator.clone());
            assert_eq!((command.command.clone(), command.by.as_deref()), (sync(), Some("ada")));
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
