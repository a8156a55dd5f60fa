//! How the supervisor controls a reflector.

use actix::{Actor, Addr};

use super::{
    Reflector,
    control::{Joined, Parted, Rescoped, Stopped},
    observers::Observer,
};
use crate::{
    actors::{BacklogRecipient, OperatorHandle, mailbox::post, messages::Published},
    cluster::WatchSpec,
    metrics::MailboxDepth,
    operator::OperatorName,
};

/// A started reflector.
pub(crate) struct ReflectorHandle {
    reflector: Addr<Reflector>,
    mailbox: MailboxDepth,
}

impl Reflector {
    pub(crate) fn start_controlled(self) -> ReflectorHandle {
        let mailbox = self.parts.mailbox.clone();
        ReflectorHandle { reflector: self.start(), mailbox }
    }
}

impl ReflectorHandle {
    /// The recipient of the changes by replies and live reads.
    pub(crate) fn published(&self) -> BacklogRecipient<Published> {
        BacklogRecipient::new(&self.reflector, &self.mailbox)
    }

    /// Adds an operator to notify. It is notified of the conditions of the watches at once.
    pub(crate) fn join(&self, name: OperatorName, operator: &OperatorHandle) {
        let observer = Observer::new(name, operator.address(), operator.mailbox());
        post(&self.reflector, &self.mailbox, Joined { observer });
    }

    pub(crate) fn part(&self, operator: OperatorName) {
        post(&self.reflector, &self.mailbox, Parted { operator });
    }

    /// Replaces the scopes. Those that remain are not touched, unless they are to be listed afresh.
    pub(crate) fn rescope(&self, scopes: Vec<WatchSpec>, is_afresh: bool) {
        post(&self.reflector, &self.mailbox, Rescoped { scopes, is_afresh });
    }

    /// Ends the watches and the actor.
    pub(crate) fn stop(&self) {
        post(&self.reflector, &self.mailbox, Stopped);
    }
}
