//! Counts the messages that wait for an actor, which actix does not report.

use actix::{Actor, Addr, Context, Handler, Message, Recipient};

use crate::metrics::{InMailbox, MailboxDepth, Work};

/// The handler of a message that waits in a [`Metered`] one. The [`Handler`] of the actor only unwraps it.
pub(crate) trait Receive<M: Send + 'static>: Actor<Context = Context<Self>> {
    /// Whether it is received also between a panic and the restart.
    const ALWAYS: bool = false;

    fn receive(&mut self, message: M, ctx: &mut Context<Self>);
}

#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Metered<M> {
    message: M,
    waiting: InMailbox,
}

pub(crate) struct MeteredRecipient<M: Send + 'static> {
    to: Recipient<Metered<M>>,
    depth: MailboxDepth,
}

// By hand, because a message need not be `Clone`.
impl<M: Send + 'static> Clone for MeteredRecipient<M> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), depth: self.depth.clone() }
    }
}

/// Sends a message and counts it until it is processed.
pub(super) fn post<A, M>(to: &Addr<A>, depth: &MailboxDepth, message: M)
where
    M: Send + 'static,
    A: Receive<M> + Handler<Metered<M>>,
{
    to.do_send(Metered::new(message, depth));
}

impl<M> Metered<M> {
    pub(super) fn new(message: M, depth: &MailboxDepth) -> Self {
        Self { message, waiting: depth.enter() }
    }

    /// The message, and the work that lasts until it is processed.
    pub(super) fn received(self) -> (M, Work) {
        let Self { message, waiting } = self;
        (message, waiting.received())
    }
}

impl<M: Send + 'static> MeteredRecipient<M> {
    pub(super) fn new<A>(to: &Addr<A>, depth: &MailboxDepth) -> Self
    where
        A: Receive<M> + Handler<Metered<M>>,
    {
        Self { to: to.clone().recipient(), depth: depth.clone() }
    }

    pub(crate) fn post(&self, message: M) {
        self.to.do_send(Metered::new(message, &self.depth));
    }
}
