//! The requests and the watch of the Lease, and what their answers mean for the election.

use std::{collections::BTreeSet, time::Duration};

use actix::{AsyncContext, Context};

use super::Elector;
use crate::{
    actors::{mailbox::post, messages::Answered, watching},
    cluster::{Cluster, WatchNote, election_now, is_outrun, lease_type},
    election::{Input, Lease},
    metrics::Renewal,
    reply::ApiError,
    store::Store,
};

impl Elector {
    pub(super) fn read(&mut self, ctx: &mut Context<Self>) {
        let (cluster, lease) = (self.parts.cluster.clone(), self.parts.lease.clone());
        let patience = self.patience();
        self.ask(ctx, async move {
            let reading = tokio::time::timeout(patience, cluster.read_lease(&lease)).await;
            match reading {
                Ok(Ok(lease)) => Answered { input: Input::Read(lease), problem: None },
                Ok(Err(error)) => failed(&error),
                Err(_) => Answered {
                    input: Input::Failed,
                    problem: Some(format!("no answer within {} s", patience.as_secs_f64())),
                },
            }
        });
    }

    pub(super) fn write(&mut self, lease: Lease, ctx: &mut Context<Self>) {
        let (cluster, key) = (self.parts.cluster.clone(), self.parts.lease.clone());
        let (metrics, patience) = (self.parts.metrics.clone(), self.patience());
        let name = key.to_string();
        self.ask(ctx, async move {
            // Before it is sent: nobody may count on more.
            let sent = election_now().boot;
            let written = cluster.write_lease(&key, &lease, patience).await;
            let (renewal, answered) = match written {
                Ok(lease) => {
                    let input = Input::Written { sent, lease };
                    (Renewal::Accepted, Answered { input, problem: None })
                }
                Err(error) if is_outrun(&error, lease.exists()) => {
                    (Renewal::Outrun, Answered { input: Input::Outrun, problem: None })
                }
                Err(error) => (Renewal::Failed, failed(&error)),
            };
            metrics.renewed(&name, renewal);
            answered
        });
    }

    /// Writes the Lease without a holder.
    pub(super) fn give_back(&self, lease: Lease) -> impl Future<Output = ()> + use<> {
        let (cluster, key) = (self.parts.cluster.clone(), self.parts.lease.clone());
        let patience = self.patience();
        async move { cluster.give_back_lease(&key, &lease, patience).await }
    }

    fn ask(&self, ctx: &Context<Self>, asking: impl Future<Output = Answered> + Send + 'static) {
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        self.parts.runtime.spawn(async move { post(&address, &mailbox, asking.await) });
    }

    /// A request that hangs must leave time for another one.
    pub(super) fn patience(&self) -> Duration {
        self.parts.timing.renew_deadline / 2
    }

    pub(super) fn watch(&mut self, ctx: &Context<Self>) {
        let store = Store::new(lease_type(), BTreeSet::new());
        let scope = store.add_scope(self.parts.lease.namespace.as_deref().map(str::to_owned));
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let spec = Cluster::watch_of_lease(&self.parts.lease);
        let note = move |note| {
            let WatchNote::Changed(changes) = note else { return };
            for change in changes {
                let lease = change.after.map(|object| Lease::of(object.to_value()));
                post(&address, &mailbox, Answered { input: Input::Seen(lease), problem: None });
            }
        };
        let watched = (self.parts.cluster.clone(), spec);
        let watching = watching::start(&self.parts.runtime, watched, (store, scope), note);
        self.watching = Some(watching);
    }
}

fn failed(error: &ApiError) -> Answered {
    Answered { input: Input::Failed, problem: Some(error.to_string()) }
}
