//! How the supervisor controls an operator, and how the operator goes.

use actix::{Actor, ActorContext, Addr, AsyncContext};
use tokio::sync::oneshot;

use super::{OperatorActor, OperatorParts};
use crate::{
    actors::{
        mailbox::{MeteredRecipient, Receive, post},
        messages::{Asked, Finalized, Left, Reconfigured},
    },
    metrics::MailboxDepth,
    object::ObjectKey,
};

/// A started operator. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OperatorHandle {
    operator: Addr<OperatorActor>,
    mailbox: MailboxDepth,
}

impl OperatorHandle {
    /// Starts an operator.
    pub(crate) fn start(parts: OperatorParts) -> Self {
        let mailbox = parts.mailbox.clone();
        let operator = OperatorActor::create(|ctx| OperatorActor::new(parts, &ctx.address()));
        Self { operator, mailbox }
    }

    pub(crate) fn address(&self) -> &Addr<OperatorActor> {
        &self.operator
    }

    pub(crate) fn mailbox(&self) -> &MailboxDepth {
        &self.mailbox
    }

    /// The recipient of the requests of users.
    pub(crate) fn web_requests(&self) -> MeteredRecipient<Asked> {
        MeteredRecipient::new(&self.operator, &self.mailbox)
    }

    /// Gives it another configuration.
    pub(crate) fn reconfigure(&self, new: Reconfigured) {
        post(&self.operator, &self.mailbox, new);
    }

    /// Treats all parents as those that left the selection. The result is sent to when none is left.
    pub(crate) fn finalize(&self) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        post(&self.operator, &self.mailbox, Finalized { done });
        is_done
    }

    /// Ends the reconcilers of all parents, then the actor. Nothing is written for that.
    pub(crate) fn leave(&self) {
        post(&self.operator, &self.mailbox, Left);
    }
}

impl Receive<Left> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, Left: Left, ctx: &mut Self::Context) {
        self.is_over = true;
        self.watches.clear();
        let keys: Vec<ObjectKey> = self.parents.keys().cloned().collect();
        for key in &keys {
            self.retire(key);
        }
        self.stop_when_over(ctx);
    }
}

impl OperatorActor {
    pub(super) fn stop_when_over(&self, ctx: &mut actix::Context<Self>) {
        if self.is_over && self.ending.is_empty() {
            ctx.stop();
        }
    }
}
