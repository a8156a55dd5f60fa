//! How the supervisor controls a member: operators join and part, buckets become warm, and the process goes.

use actix::{Actor, Addr};
use tokio::sync::{oneshot, watch};

use super::{Member, Sharder, SharderParts, leaving::Leave};
use crate::{
    actors::{
        mailbox::{MeteredRecipient, Receive, post},
        messages::{BucketsChanged, Released},
        operator_actor::handle::OperatorHandle,
    },
    election::{Buckets, ShardInput},
    execute::Gate,
    metrics::MailboxDepth,
    operator::OperatorName,
};

/// An operator works in the buckets of the process. Its gate is held.
pub(super) struct Joined {
    operator: OperatorName,
    gate: Gate,
    changed: MeteredRecipient<BucketsChanged>,
}

pub(super) struct Parted {
    operator: OperatorName,
}

/// The caches have changed.
pub(super) struct CachesChanged(ShardInput);

impl Receive<Joined> for Sharder {
    const ALWAYS: bool = true;

    fn receive(&mut self, Joined { operator, gate, changed }: Joined, _: &mut Self::Context) {
        if self.role.until.is_some() {
            gate.open();
        }
        // The buckets may have changed before it joined.
        changed.post(BucketsChanged);
        self.operators.insert(operator, Member { gate, changed });
        self.show();
    }
}

impl Receive<Parted> for Sharder {
    const ALWAYS: bool = true;

    fn receive(&mut self, Parted { operator }: Parted, _: &mut Self::Context) {
        self.operators.remove(&operator);
    }
}

impl Receive<CachesChanged> for Sharder {
    // Nothing repeats it.
    const ALWAYS: bool = true;

    fn receive(&mut self, CachesChanged(input): CachesChanged, ctx: &mut Self::Context) {
        self.caches_changed(input, ctx);
    }
}

/// A running member of a group. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sharded {
    sharder: Addr<Sharder>,
    mailbox: MailboxDepth,
    watches: watch::Receiver<Buckets>,
}

impl Sharded {
    /// Starts a member without a bucket.
    pub(crate) fn start(parts: SharderParts) -> Self {
        let (mailbox, watches) = (parts.mailbox.clone(), parts.watches.subscribe());
        Self { sharder: Sharder::new(parts).start(), mailbox, watches }
    }

    /// The buckets whose objects are to be watched, now and later.
    pub(crate) fn watches(&self) -> watch::Receiver<Buckets> {
        self.watches.clone()
    }

    /// Adds an operator, whose gate is held: it works in the buckets of the process.
    pub(crate) fn join(&self, operator: OperatorName, gate: Gate, handle: &OperatorHandle) {
        gate.hold();
        let changed = MeteredRecipient::new(handle.address(), handle.mailbox());
        post(&self.sharder, &self.mailbox, Joined { operator, gate, changed });
    }

    pub(crate) fn part(&self, operator: OperatorName) {
        post(&self.sharder, &self.mailbox, Parted { operator });
    }

    /// The caches hold the objects of these buckets completely.
    pub(crate) fn warm(&self, buckets: Buckets) {
        post(&self.sharder, &self.mailbox, CachesChanged(ShardInput::Warm(buckets)));
    }

    /// Some of the objects that are watched cannot be listed.
    pub(crate) fn cannot_list(&self) {
        post(&self.sharder, &self.mailbox, CachesChanged(ShardInput::Unlistable));
    }

    /// The caches are going to hold the objects of no other buckets than these.
    pub(crate) fn narrow(&self, buckets: Buckets) {
        post(&self.sharder, &self.mailbox, CachesChanged(ShardInput::Narrowed(buckets)));
    }

    /// Returns when other members have the buckets, or nobody is there to take them.
    pub(crate) async fn leave(&self) {
        let (left, has_left) = oneshot::channel();
        post(&self.sharder, &self.mailbox, Leave { left });
        let _ = has_left.await;
    }

    /// Gives the Lease back after the last write. Where a reconcile or a write did not end it expires.
    pub(crate) async fn release(&self) {
        let (done, is_done) = oneshot::channel();
        post(&self.sharder, &self.mailbox, Released { done });
        // The sender is dropped when it is done.
        let _ = is_done.await;
    }
}
