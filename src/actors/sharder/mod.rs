//! The actor of a process that shares the parents of its operators with others: it keeps the own Lease, follows those of the
//! group, and opens and closes buckets.
//!
//! ```text
//! watch loop --Seen, Gone--> Sharder --requests--> API server
//! registry --Warm-->         |  ^                     |
//! buckets --Idle-->          |  +---GroupAnswered-----+
//!                            v
//!   fences, gates and operators; what the registry is to watch; board, metrics
//! ```
//!
//! - `handle`: what the supervisor asks of it;
//! - `lease`: the requests and the watch of the Leases;
//! - `leaving`: the end;
//! - `shown`: the board and the metrics.

pub(super) mod handle;
mod lease;
mod leaving;
mod shown;

use std::{collections::BTreeMap, mem};

use actix::{Actor, AsyncContext, Context, Handler};
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    task::AbortHandle,
};

use super::{
    mailbox::{Metered, MeteredRecipient, Receive, post},
    messages::{BucketsChanged, GroupAnswered, Released},
    problem::Problem,
    supervised::{self, ActorPanic, Supervised, Supervision, guarded},
    timer::Timer,
};
use crate::{
    board::Board,
    cluster::{Cluster, election_now},
    election::{
        Bucket, BucketFence, Buckets, Fence, FenceReach, Role, ShardAct, ShardInput, Shards, Timing,
    },
    execute::{Gate, now},
    metrics::{MailboxDepth, Metrics},
    object::ObjectKey,
    operator::OperatorName,
};

pub(crate) struct SharderParts {
    /// Without the fence.
    pub(crate) cluster: Cluster,
    /// Where requests and the watch run.
    pub(crate) runtime: Handle,
    /// The name of the group.
    pub(crate) group: String,
    /// The own Lease.
    pub(crate) lease: ObjectKey,
    /// Where the web endpoint answers other members.
    pub(crate) url: Option<String>,
    pub(crate) timing: Timing,
    /// The fence of the process.
    pub(crate) fence: Fence,
    /// The fence of what one member does for all: it is open where the first bucket is.
    pub(crate) first: Fence,
    pub(crate) buckets: BucketFence,
    pub(crate) reach: FenceReach,
    /// Receives the buckets whose objects are to be watched.
    pub(crate) watches: watch::Sender<Buckets>,
    pub(crate) board: Board,
    pub(crate) metrics: Metrics,
    pub(crate) mailbox: MailboxDepth,
}

pub(crate) struct Sharder {
    parts: SharderParts,
    operators: BTreeMap<OperatorName, Member>,
    shards: Shards,
    role: Role,
    timer: Timer,
    /// Why the last request failed.
    problem: Problem,
    /// Whether the server knows `shardSelector`, once that is known.
    selects_shards: Option<bool>,
    watching: Option<AbortHandle>,
    /// The wait for the work in closing buckets.
    ending: Option<(Buckets, AbortHandle)>,
    /// Who waits until others have the buckets.
    leaving: Vec<oneshot::Sender<()>>,
    /// Who waits until the Lease is given back.
    releasing: Option<Released>,
    supervision: Supervision,
}

/// An operator that works in the buckets of the process.
struct Member {
    gate: Gate,
    changed: MeteredRecipient<BucketsChanged>,
}

impl Sharder {
    /// Without a bucket: no reconcile begins before one is taken.
    fn new(parts: SharderParts) -> Self {
        parts.metrics.election_began(&parts.lease.to_string());
        let (operators, role, timer, problem, selects_shards, watching) = <_>::default();
        let (ending, leaving, releasing, supervision) = <_>::default();
        Self {
            shards: shards(&parts),
            parts,
            operators,
            role,
            timer,
            problem,
            selects_shards,
            watching,
            ending,
            leaving,
            releasing,
            supervision,
        }
    }

    fn step(&mut self, input: ShardInput, ctx: &mut Context<Self>) {
        let did_decline = self.shards.declines();
        let acts = self.shards.step(input, election_now());
        if did_decline != self.shards.declines() {
            self.log_declining();
        }
        self.apply_role();
        self.await_end(ctx);
        for act in acts {
            self.perform(act, ctx);
        }
        self.show();
        self.report_left();
        self.release_when_answered(ctx);
    }

    fn caches_changed(&mut self, input: ShardInput, ctx: &mut Context<Self>) {
        if self.supervision.is_down {
            self.shards.know(input, election_now());
        } else {
            self.step(input, ctx);
        }
    }

    fn perform(&mut self, act: ShardAct, ctx: &mut Context<Self>) {
        match act {
            ShardAct::Write(lease) => self.write(lease, ctx),
            ShardAct::List => self.list(ctx),
            ShardAct::Remove(name, lease) => self.remove(&name, &lease),
            ShardAct::Wait(until) => {
                let delay = until.from(election_now().boot);
                self.timer.set(
                    delay,
                    ctx,
                    |this| &mut this.timer,
                    |this, ctx| guarded(this, ctx, |this, ctx| this.step(ShardInput::Due, ctx)),
                );
            }
        }
    }

    /// The fences are set before the operators are told.
    fn apply_role(&mut self) {
        let role = self.shards.role(election_now());
        self.parts.fence.set(role.until);
        self.parts.first.set(role.until.filter(|_| role.works.has(Bucket::FIRST)));
        self.parts.buckets.set(role.works, role.closing);
        let before = mem::replace(&mut self.role, role);
        if before.until.is_some() != self.role.until.is_some() {
            self.apply_tenure();
        }
        if before.works != self.role.works {
            let (group, works) = (&self.parts.group, self.role.works);
            tracing::info!(group, "this process works in {} of 64 buckets: {works}", works.len());
            self.operators.values().for_each(|operator| operator.changed.post(BucketsChanged));
        }
        let watches = self.role.watches;
        self.parts.watches.send_if_modified(|known| mem::replace(known, watches) != watches);
    }

    fn apply_tenure(&self) {
        let (lease, may_write) = (self.parts.lease.to_string(), self.role.until.is_some());
        self.parts.metrics.leads(&lease, may_write);
        if may_write {
            tracing::info!(lease, "this process is a member of its group");
        } else if self.shards.is_leaving() {
            tracing::info!(lease, "this process has left its group");
        } else {
            tracing::warn!(lease, "the Lease was not renewed in time: this process writes nothing");
        }
        for operator in self.operators.values() {
            if may_write { operator.gate.open() } else { operator.gate.hold() }
        }
    }

    /// Waits for the work in closing buckets.
    fn await_end(&mut self, ctx: &Context<Self>) {
        let closing = self.shards.closing();
        if self.ending.as_ref().map_or(Buckets::NONE, |(awaited, _)| *awaited) == closing {
            return;
        }
        self.ending.take().iter().for_each(|(_, waiting)| waiting.abort());
        if closing.is_empty() {
            return;
        }
        let (buckets, address) = (self.parts.buckets.clone(), ctx.address());
        let mailbox = self.parts.mailbox.clone();
        let waiting = self.parts.runtime.spawn(async move {
            let input = ShardInput::Idle(buckets.idle(closing).await);
            post(&address, &mailbox, GroupAnswered::of(input));
        });
        self.ending = Some((closing, waiting.abort_handle()));
    }
}

fn shards(parts: &SharderParts) -> Shards {
    let namespace = parts.lease.namespace.as_deref().unwrap_or_default();
    let place = (namespace, parts.group.as_str());
    Shards::new(place, &parts.lease.name, parts.url.clone(), parts.timing)
}

impl Actor for Sharder {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.watch(ctx);
        self.step(ShardInput::Due, ctx);
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        self.watching.take().iter().for_each(AbortHandle::abort);
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for Sharder
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        supervised::receive(self, metered, ctx);
    }
}

impl Supervised for Sharder {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.supervision
    }

    fn title(&self) -> String {
        format!("the member {} of a group", self.parts.lease)
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.parts.board
    }

    /// Nothing is written until the Leases were listed again.
    fn panicked(&mut self, panic: &ActorPanic, ctx: &mut Context<Self>) {
        self.timer.clear(ctx);
        self.watching.take().iter().for_each(AbortHandle::abort);
        self.shards = self.shards.begun_again();
        self.problem.set(Some(panic.sentence()), now().monotonic);
        self.apply_role();
        self.await_end(ctx);
        self.show();
        for operator in self.operators.keys() {
            self.parts.metrics.restarted(operator);
            self.parts.board.restarted(operator, &panic.why);
        }
    }

    fn restarted(&mut self, ctx: &mut Context<Self>) {
        self.problem.set(None, now().monotonic);
        self.watch(ctx);
        self.step(ShardInput::Due, ctx);
    }
}

impl Receive<GroupAnswered> for Sharder {
    fn receive(&mut self, answered: GroupAnswered, ctx: &mut Self::Context) {
        let GroupAnswered { input, selects_shards, problem } = answered;
        self.selects_shards = selects_shards.or(self.selects_shards);
        if let Some(problem) = &problem {
            tracing::warn!(lease = %self.parts.lease, problem, "the Leases of the group cannot be used");
        }
        if matches!(input, ShardInput::Written { .. } | ShardInput::Failed) {
            self.problem.set(problem, now().monotonic);
        }
        self.step(input, ctx);
    }
}
