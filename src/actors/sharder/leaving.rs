//! The end of a member: others take its buckets while it still works, then it gives its Lease back after its last write.

use std::mem;

use actix::{ActorContext, Context};
use tokio::{sync::oneshot, task::AbortHandle};

use super::Sharder;
use crate::{
    actors::{mailbox::Receive, messages::Released},
    cluster::election_now,
    election::{Lease, ShardInput},
    execute::Gate,
};

/// The process is going to stop. The sender is used when others have the buckets.
pub(super) struct Leave {
    pub(super) left: oneshot::Sender<()>,
}

impl Receive<Leave> for Sharder {
    const ALWAYS: bool = true;

    fn receive(&mut self, Leave { left }: Leave, ctx: &mut Context<Self>) {
        self.leaving.push(left);
        self.step(ShardInput::Leaving, ctx);
    }
}

impl Sharder {
    pub(super) fn report_left(&mut self) {
        if !self.leaving.is_empty() && self.shards.may_leave(election_now()) {
            for left in mem::take(&mut self.leaving) {
                // Nobody may wait any longer.
                let _ = left.send(());
            }
        }
    }

    /// Ends the role. Returns the write that gives the Lease back; none where a reconcile or a write did not end.
    fn end(&mut self) -> Option<Lease> {
        let is_over = self.is_over();
        let lease = self.shards.release(election_now());
        self.apply_role();
        self.parts.fence.seal();
        self.parts.first.seal();
        if lease.is_some() && !is_over {
            let lease = self.parts.lease.to_string();
            tracing::warn!(
                lease,
                "reconciles did not end: the Lease is not given back, and expires"
            );
        }
        lease.filter(|_| is_over)
    }

    /// Whether the last write is over.
    fn is_over(&self) -> bool {
        let is_idle = |gate: &Gate| gate.look().running == 0;
        let are_idle = self.operators.values().all(|operator| is_idle(&operator.gate));
        let Self { parts, .. } = self;
        !parts.fence.has_writes() && !parts.first.has_writes() && are_idle
    }
}

impl Receive<Released> for Sharder {
    const ALWAYS: bool = true;

    fn receive(&mut self, released: Released, ctx: &mut Context<Self>) {
        self.releasing = Some(released);
        self.release_when_answered(ctx);
    }
}

impl Sharder {
    /// A renewal on its way would be refused, or would outlive the end.
    pub(super) fn release_when_answered(&mut self, ctx: &mut Context<Self>) {
        if self.shards.is_writing() {
            return;
        }
        let Some(released) = self.releasing.take() else { return };
        self.timer.clear(ctx);
        self.watching.take().iter().for_each(AbortHandle::abort);
        let giving_back = self.end().map(|lease| self.give_back(lease));
        ctx.stop();
        self.parts.runtime.spawn(async move {
            if let Some(giving_back) = giving_back {
                giving_back.await;
            }
            drop(released);
        });
    }
}
