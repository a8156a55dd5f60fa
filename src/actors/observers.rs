//! The operators that a reflector notifies, whether it watches a type or related objects.

use std::sync::Arc;

use actix::Addr;

use super::{
    backlog::{BacklogRecipient, Batch},
    mailbox::{Receive, post},
    operator_actor::{OperatorActor, handle::OperatorHandle},
};
use crate::{metrics::MailboxDepth, operator::OperatorName, store::Change};

/// An operator that is notified; it receives changes as `B`.
pub(crate) struct Observer<B: Batch> {
    operator: OperatorName,
    actor: Addr<OperatorActor>,
    mailbox: MailboxDepth,
    objects: BacklogRecipient<B>,
    /// The generation of the scopes when it joined.
    since: u64,
}

pub(super) struct Observers<B: Batch>(Vec<Observer<B>>);

impl<B: Batch> Observer<B>
where
    OperatorActor: Receive<B>,
{
    pub(super) fn new(operator: OperatorName, handle: &OperatorHandle) -> Self {
        let (actor, mailbox) = (handle.address().clone(), handle.mailbox().clone());
        let objects = BacklogRecipient::new(&actor, &mailbox);
        Self { operator, actor, mailbox, objects, since: 0 }
    }
}

impl<B: Batch> Observer<B> {
    pub(super) fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn post<M: Send + 'static>(&self, message: M)
    where
        OperatorActor: Receive<M>,
    {
        post(&self.actor, &self.mailbox, message);
    }
}

// By hand, because a batch need not have a default.
impl<B: Batch> Default for Observers<B> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<B: Batch> Observers<B> {
    /// Adds an operator, or replaces it.
    pub(super) fn add(&mut self, observer: Observer<B>, since: u64) {
        self.remove(&observer.operator);
        self.0.push(Observer { since, ..observer });
    }

    pub(super) fn remove(&mut self, operator: &OperatorName) {
        self.0.retain(|observer| observer.operator != *operator);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Observer<B>> {
        self.0.iter()
    }

    /// Notifies all of changes, and of what these have in common.
    pub(super) fn notify(&self, of: &B::Of, changes: &Arc<[Change]>) {
        if changes.is_empty() {
            return;
        }
        for observer in &self.0 {
            observer.objects.post(B::join(of.clone(), changes.clone()));
        }
    }

    pub(super) fn post<M: Clone + Send + 'static>(&self, message: &M)
    where
        OperatorActor: Receive<M>,
    {
        self.0.iter().for_each(|observer| observer.post(message.clone()));
    }
}
