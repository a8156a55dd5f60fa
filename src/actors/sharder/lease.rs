//! The requests and the watch of the Leases of a group, and what their answers mean.

use std::{collections::BTreeSet, time::Duration};

use actix::{AsyncContext, Context};

use super::Sharder;
use crate::{
    actors::{mailbox::post, messages::GroupAnswered, watching},
    cluster::{Cluster, Leases, WatchNote, election_now, is_outrun, lease_type},
    election::{Lease, ShardInput},
    metrics::Renewal,
    object::{ObjectKey, OneLine},
    store::Store,
};

impl Sharder {
    pub(super) fn list(&self, ctx: &Context<Self>) {
        let (cluster, patience) = (self.parts.cluster.clone(), self.patience());
        let (namespace, group) = (self.namespace(), self.parts.group.clone());
        self.ask(ctx, async move {
            let listing = cluster.list_leases(&namespace, &group);
            match tokio::time::timeout(patience, listing).await {
                Ok(Ok(Leases { by_name: leases, version, selects_shards })) => {
                    let listed = GroupAnswered::of(ShardInput::Listed { leases, version });
                    GroupAnswered { selects_shards: Some(selects_shards), ..listed }
                }
                Ok(Err(error)) => failed(ShardInput::Unlisted, error.to_string()),
                Err(_) => failed(ShardInput::Unlisted, late(patience)),
            }
        });
    }

    pub(super) fn write(&self, lease: Lease, ctx: &Context<Self>) {
        let (cluster, key) = (self.parts.cluster.clone(), self.parts.lease.clone());
        let (metrics, patience) = (self.parts.metrics.clone(), self.patience());
        let name = key.to_string();
        self.ask(ctx, async move {
            // Before it is sent: nobody may count on more.
            let sent = election_now().boot;
            let written = cluster.write_lease(&key, &lease, patience).await;
            let (renewal, answered) = match written {
                Ok(lease) => {
                    let input = ShardInput::Written { sent, lease };
                    (Renewal::Accepted, GroupAnswered::of(input))
                }
                Err(error) if is_outrun(&error, lease.exists()) => {
                    (Renewal::Outrun, GroupAnswered::of(ShardInput::Outrun))
                }
                Err(error) => (Renewal::Failed, failed(ShardInput::Failed, error.to_string())),
            };
            metrics.renewed(&name, renewal);
            answered
        });
    }

    /// Deletes the Lease of a member that ended long ago. Another member may have done so.
    pub(super) fn remove(&self, name: &str, lease: &Lease) {
        let key = ObjectKey::namespaced(&self.namespace(), name);
        let (cluster, lease) = (self.parts.cluster.clone(), lease.clone());
        self.parts.runtime.spawn(async move {
            if let Err(error) = cluster.delete_lease(&key, &lease).await {
                let error = OneLine(&error);
                tracing::debug!(lease = %key, %error, "the Lease of a former member was not deleted");
            }
        });
    }

    /// Writes the Lease without a holder.
    pub(super) fn give_back(&self, lease: Lease) -> impl Future<Output = ()> + use<> {
        let (cluster, key) = (self.parts.cluster.clone(), self.parts.lease.clone());
        let patience = self.patience();
        async move { cluster.give_back_lease(&key, &lease, patience).await }
    }

    pub(super) fn watch(&mut self, ctx: &Context<Self>) {
        let store = Store::new(lease_type(), BTreeSet::new());
        let spec = Cluster::watch_of_group(&self.namespace(), &self.parts.group);
        let scope = store.add_selecting_scope(spec.namespace.clone(), spec.selection());
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let note = move |note| {
            let WatchNote::Changed(changes) = note else { return };
            for change in changes {
                let name = change.object().name().to_owned();
                let input = match &change.after {
                    Some(object) => ShardInput::Seen(name, Lease::of(object.to_value())),
                    None => ShardInput::Gone(name),
                };
                post(&address, &mailbox, GroupAnswered::of(input));
            }
        };
        let watched = (self.parts.cluster.clone(), spec);
        let watching = watching::start(&self.parts.runtime, watched, (store, scope), note);
        self.watching = Some(watching);
    }

    fn ask(
        &self,
        ctx: &Context<Self>,
        asking: impl Future<Output = GroupAnswered> + Send + 'static,
    ) {
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        self.parts.runtime.spawn(async move { post(&address, &mailbox, asking.await) });
    }

    fn namespace(&self) -> String {
        self.parts.lease.namespace.as_deref().unwrap_or_default().to_owned()
    }

    /// A request that hangs must leave time for another one.
    fn patience(&self) -> Duration {
        self.parts.timing.renew_deadline / 2
    }
}

fn failed(input: ShardInput, why: String) -> GroupAnswered {
    GroupAnswered { problem: Some(why), ..GroupAnswered::of(input) }
}

fn late(patience: Duration) -> String {
    format!("no answer within {} s", patience.as_secs_f64())
}
