//! The end of an election: this process stops, gives its Lease back after its last write, and removes the label of its Pod.

use actix::{ActorContext, Context};
use tokio::task::AbortHandle;

use super::Elector;
use crate::{
    actors::{mailbox::Receive, messages::Released},
    cluster::election_now,
    election::Lease,
    execute::Gate,
};

impl Elector {
    /// Ends the role. Returns the write that gives the Lease back; none for a standby, and none where a reconcile or a
    /// write did not end.
    fn end(&mut self) -> Option<Lease> {
        let is_over = self.is_over();
        let lease = self.election.release(election_now());
        self.apply_role();
        self.parts.fence.seal();
        if lease.is_some() && !is_over {
            let lease = self.parts.lease.to_string();
            tracing::warn!(
                lease,
                "reconciles did not end: the Lease is not given back, and expires"
            );
        }
        lease.filter(|_| is_over)
    }

    /// Whether the last write is over. A write without an answer may take effect later, when another process leads. So
    /// may a write of a reconcile in progress.
    fn is_over(&self) -> bool {
        let is_idle = |gate: &Gate| gate.look().running == 0;
        !self.parts.fence.has_writes() && self.operators.iter().all(|(_, gate)| is_idle(gate))
    }
}

impl Receive<Released> for Elector {
    const ALWAYS: bool = true;

    fn receive(&mut self, released: Released, ctx: &mut Context<Self>) {
        self.timer.clear(ctx);
        self.watching.take().iter().for_each(AbortHandle::abort);
        let giving_back = self.end().map(|lease| self.give_back(lease));
        let removing = self.remove_label();
        ctx.stop();
        self.parts.runtime.spawn(async move {
            if let Some(giving_back) = giving_back {
                giving_back.await;
            }
            removing.await;
            drop(released);
        });
    }
}
