//! Requests from the web: the bounded channel that carries commands and queries to the supervisor,
//! and the wait for their answer.

use tokio::sync::mpsc;

use super::{
    Board, Command, CommandError, CommandRequest, Dependants, DependantsRequest, Depth,
    EventReading, EventRequest, EventSubject, ExternalChange, Owners, OwnersRequest, Preview,
    PreviewRequest, Responder, WebRequest, Workload,
};
use crate::{
    object::{Object, ObjectKey},
    plan::ChildId,
};

/// The capacity of the queue of commands.
const WAITING: usize = 64;

impl Board {
    /// Starts to accept commands, until [`Board::begin_stopping`]. The receiver executes them.
    pub(crate) fn take_commands(&self) -> mpsc::Receiver<WebRequest> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.write().commands = Some(sender);
        receiver
    }

    /// Sends a command, and returns when it is executed.
    ///
    /// # Errors
    /// When it was not executed; see [`CommandError`].
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

    /// Reports a change outside of Kubernetes that a parent depends on. Returns when the parent knows, and waits
    /// while the queue is full: unlike users, a program that reports many changes does not try again.
    ///
    /// # Errors
    /// There is no such operator or parent, or the process is stopping.
    pub(crate) async fn report_external(
        &self,
        operator: &str,
        parent: ObjectKey,
    ) -> Result<(), CommandError> {
        let (answer, answered) = Responder::channel();
        let operator = operator.to_owned();
        let change = WebRequest::External(ExternalChange { operator, parent, answer });
        let sender = self.read().commands.clone().ok_or(CommandError::Closed)?;
        sender.send(change).await.map_err(|_| CommandError::Closed)?;
        answered.await.unwrap_or(Err(CommandError::Closed))
    }

    /// Computes what a reconcile of a parent would do now. The handler is called, and nothing is written.
    ///
    /// # Errors
    /// When it cannot be computed; see [`CommandError`].
    pub async fn preview(
        &self,
        operator: &str,
        parent: ObjectKey,
    ) -> Result<Preview, CommandError> {
        self.preview_with(operator, parent, None).await
    }

    /// The same as if this were the parent, which may not exist.
    pub(crate) async fn preview_of(
        &self,
        operator: &str,
        parent: Object,
    ) -> Result<Preview, CommandError> {
        self.preview_with(operator, parent.key().clone(), Some(parent)).await
    }

    async fn preview_with(
        &self,
        operator: &str,
        parent: ObjectKey,
        instead: Option<Object>,
    ) -> Result<Preview, CommandError> {
        let operator = operator.to_owned();
        let request =
            |answer| WebRequest::Preview(PreviewRequest { operator, parent, instead, answer });
        self.request(request).await
    }

    /// Reads the Events about some objects from the API server, with the permissions of an operator.
    /// The number of objects is limited to the first ones. Nothing is cached.
    ///
    /// # Errors
    /// When the request cannot be sent. Refusals by the server are in the answer.
    pub(crate) async fn read_events(
        &self,
        operator: &str,
        about: Vec<EventSubject>,
    ) -> Result<EventReading, CommandError> {
        let operator = operator.to_owned();
        let request = |answer| WebRequest::Events(EventRequest { operator, about, answer });
        self.request(request).await
    }

    /// Reads what Kubernetes makes of the first few children, with the permissions of an operator. Nothing is cached.
    ///
    /// # Errors
    /// When the request cannot be sent. Refusals by the server are in the answer.
    pub(crate) async fn read_dependants(
        &self,
        operator: &str,
        of: Vec<Workload>,
        depth: Depth,
    ) -> Result<Vec<Dependants>, CommandError> {
        let operator = operator.to_owned();
        let request =
            |answer| WebRequest::Dependants(DependantsRequest { operator, of, depth, answer });
        self.request(request).await
    }

    /// Reads who set which field of an object, with the permissions of an operator. Nothing is cached.
    ///
    /// # Errors
    /// When the request cannot be sent. Refusals by the server are in the answer.
    pub(crate) async fn read_owners(
        &self,
        operator: &str,
        of: ChildId,
    ) -> Result<Owners, CommandError> {
        let operator = operator.to_owned();
        let request = |answer| WebRequest::Owners(OwnersRequest { operator, of, answer });
        self.request(request).await
    }

    async fn request<T>(
        &self,
        request: impl FnOnce(Responder<T>) -> WebRequest,
    ) -> Result<T, CommandError> {
        let (answer, answered) = Responder::channel();
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
    async fn a_command_returns_its_answer() {
        let board = Board::new();
        let mut commands = board.take_commands();
        let executing = async {
            let Some(WebRequest::Command(command)) = commands.recv().await else { panic!() };
            let refused = CommandError::NoOperator(command.operator.clone());
            assert_eq!((command.command.clone(), command.by.as_deref()), (sync(), Some("ada")));
            command.answer.give(Err(refused));
        };
        let asking = board.command("op", sync(), Some("ada".to_owned()));
        let (answer, ()) = tokio::join!(asking, executing);
        assert_eq!(answer, Err(CommandError::NoOperator("op".to_owned())));
    }

    #[tokio::test]
    async fn a_change_outside_of_kubernetes_waits_for_room_in_the_queue() {
        let board = Board::new();
        let mut requests = board.take_commands();
        let commands: Vec<_> =
            (0..WAITING).map(|_| Box::pin(board.command("op", sync(), None))).collect();
        let mut commands = futures::future::join_all(commands);
        assert!(futures::poll!(&mut commands).is_pending());
        let mut report = Box::pin(board.report_external("op", ObjectKey::namespaced("ns", "a")));
        assert!(futures::poll!(&mut report).is_pending());
        let answering = async {
            loop {
                match requests.recv().await {
                    Some(WebRequest::External(change)) => return change.answer.give(Ok(())),
                    command => drop(command),
                }
            }
        };
        assert_eq!(tokio::join!(report, answering).0, Ok(()));
    }

    #[tokio::test]
    async fn a_command_fails_when_the_receiver_is_gone_or_the_queue_is_full() {
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
