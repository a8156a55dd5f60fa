//! How the supervisor controls the reflector of a related type.

use actix::{Actor, ActorContext, Addr, Context};

use super::{Observer, RelatedReflector};
use crate::{
    actors::{
        BacklogRecipient, OperatorHandle,
        mailbox::{MeteredRecipient, Receive, post},
        messages::{DemandChanged, RelatedTroubles},
    },
    metrics::MailboxDepth,
    operator::OperatorName,
};

/// A started reflector of a related type.
pub(crate) struct RelatedHandle {
    reflector: Addr<RelatedReflector>,
    mailbox: MailboxDepth,
}

pub(super) struct Joined(Observer);

pub(super) struct Parted(OperatorName);

pub(super) struct Stopped;

impl RelatedReflector {
    pub(crate) fn start_poked(self) -> RelatedHandle {
        let (source, mailbox) = (self.parts.source.clone(), self.parts.mailbox.clone());
        let reflector = self.start();
        let demand = MeteredRecipient::new(&reflector, &mailbox);
        source.on_change(move || demand.post(DemandChanged));
        RelatedHandle { reflector, mailbox }
    }
}

impl RelatedHandle {
    /// Adds an operator to notify.
    pub(crate) fn join(&self, name: OperatorName, operator: &OperatorHandle) {
        let (actor, mailbox) = (operator.address(), operator.mailbox());
        let observer = Observer {
            operator: name,
            objects: BacklogRecipient::new(actor, mailbox),
            settled: MeteredRecipient::new(actor, mailbox),
            troubles: MeteredRecipient::new(actor, mailbox),
            falls: MeteredRecipient::new(actor, mailbox),
        };
        post(&self.reflector, &self.mailbox, Joined(observer));
    }

    pub(crate) fn part(&self, operator: OperatorName) {
        post(&self.reflector, &self.mailbox, Parted(operator));
    }

    /// Ends the watches and the actor.
    pub(crate) fn stop(&self) {
        post(&self.reflector, &self.mailbox, Stopped);
    }
}

impl Receive<Joined> for RelatedReflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, Joined(observer): Joined, _: &mut Context<Self>) {
        if !self.troubles.is_empty() {
            let (ty, reasons) = (self.spec().ty.clone(), self.troubles.clone());
            observer.troubles.post(RelatedTroubles { ty, reasons });
        }
        self.observers.push(observer);
    }
}

impl Receive<Parted> for RelatedReflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, Parted(operator): Parted, _: &mut Context<Self>) {
        self.observers.retain(|observer| observer.operator != operator);
    }
}

impl Receive<Stopped> for RelatedReflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, Stopped: Stopped, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}
