//! Sending to actors so that what waits for them is counted: actix tells nobody.

use std::fmt;

use actix::{Actor, Addr, Context, Handler, Message, Recipient};

use crate::metrics::{InMailbox, MailboxDepth};

/// A message that may wait in a mailbox.
pub trait MeteredMessage: Message<Result = ()> + Send + 'static {}

/// What an actor does with a letter; its [`Handler`] only opens the mail.
pub trait Receive<M: MeteredMessage>: Actor<Context = Context<Self>> {
    /// Takes one letter in.
    fn receive(&mut self, message: M, ctx: &mut Context<Self>);
}

/// A letter on its way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Metered<M> {
    message: M,
    waiting: InMailbox,
}

/// Where messages of one kind for one actor go.
pub struct MeteredRecipient<M: MeteredMessage> {
    to: Recipient<Metered<M>>,
    depth: MailboxDepth,
}

/// Sends a message, and counts it until it is taken out.
pub(super) fn post<A, M>(to: &Addr<A>, depth: &MailboxDepth, message: M)
where
    M: MeteredMessage,
    A: Receive<M> + Handler<Metered<M>>,
{
    to.do_send(Metered::new(message, depth));
}

impl<M: MeteredMessage> Metered<M> {
    pub(super) fn new(message: M, depth: &MailboxDepth) -> Self {
        Self { message, waiting: depth.enter() }
    }

    /// The message, which waits no longer.
    pub(super) fn open(self) -> M {
        let Self { message, waiting } = self;
        drop(waiting);
        message
    }
}

impl<M: MeteredMessage> MeteredRecipient<M> {
    pub(super) fn new<A>(to: &Addr<A>, depth: &MailboxDepth) -> Self
    where
        A: Receive<M> + Handler<Metered<M>>,
    {
        Self { to: to.clone().recipient(), depth: depth.clone() }
    }

    /// Sends a message, however many wait already.
    pub fn post(&self, message: M) {
        self.to.do_send(Metered::new(message, &self.depth));
    }
}

impl<M: MeteredMessage> fmt::Debug for MeteredRecipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MeteredRecipient({:?})", self.depth)
    }
}
