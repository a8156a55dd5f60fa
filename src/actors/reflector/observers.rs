//! The operators that a reflector notifies.

use std::sync::Arc;

use crate::{
    actors::messages::{
        DefinitionChanged, FoundUndecodable, Observed, ReflectorFell, WatchChanged,
    },
    actors::{BacklogRecipient, OperatorActor, mailbox::MeteredRecipient},
    execute::Origin,
    metrics::MailboxDepth,
    object::{K8sType, Undecodable},
    operator::OperatorName,
    store::Change,
};

#[derive(Default)]
pub(super) struct Observers(Vec<Observer>);

/// An operator that is notified.
pub(crate) struct Observer {
    operator: OperatorName,
    objects: BacklogRecipient<Observed>,
    undecodable: MeteredRecipient<FoundUndecodable>,
    watches: MeteredRecipient<WatchChanged>,
    falls: MeteredRecipient<ReflectorFell>,
    definitions: MeteredRecipient<DefinitionChanged>,
    /// The generation of the scopes when it joined.
    since: u64,
}

impl Observer {
    pub(crate) fn new(
        operator: OperatorName,
        actor: &actix::Addr<OperatorActor>,
        mailbox: &MailboxDepth,
    ) -> Self {
        Self {
            operator,
            objects: BacklogRecipient::new(actor, mailbox),
            undecodable: MeteredRecipient::new(actor, mailbox),
            watches: MeteredRecipient::new(actor, mailbox),
            falls: MeteredRecipient::new(actor, mailbox),
            definitions: MeteredRecipient::new(actor, mailbox),
            since: 0,
        }
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn changed(&self, changed: WatchChanged) {
        self.watches.post(changed);
    }
}

impl Observers {
    /// Adds an operator, or replaces it.
    pub(super) fn add(&mut self, observer: Observer, since: u64) {
        self.remove(&observer.operator);
        self.0.push(Observer { since, ..observer });
    }

    pub(super) fn remove(&mut self, operator: &OperatorName) {
        self.0.retain(|observer| observer.operator != *operator);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Observer> {
        self.0.iter()
    }

    pub(super) fn notify(&self, ty: &K8sType, changes: &Arc<[Change]>, origin: Option<&Origin>) {
        if changes.is_empty() {
            return;
        }
        for observer in &self.0 {
            let (ty, changes, origin) = (ty.clone(), changes.clone(), origin.cloned());
            observer.objects.post(Observed { ty, changes, origin });
        }
    }

    pub(super) fn fell(&self, notice: &ReflectorFell) {
        for observer in &self.0 {
            observer.falls.post(notice.clone());
        }
    }

    pub(super) fn definition_changed(&self, ty: &K8sType) {
        for observer in &self.0 {
            observer.definitions.post(DefinitionChanged { ty: ty.clone() });
        }
    }

    pub(super) fn found_undecodable(&self, object: &Undecodable) {
        for observer in &self.0 {
            observer.undecodable.post(FoundUndecodable { object: object.clone() });
        }
    }
}
