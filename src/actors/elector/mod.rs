//! One actor per Lease: it holds the Lease while this process leads, and waits for it otherwise.
//!
//! ```text
//! watch loop --Seen--> Elector --requests--> API server
//!                        |  ^                    |
//!                        |  +------Answered------+
//!                        v
//!            fence and gates of the operators, board, metrics, label of the Pod
//! ```
//!
//! - `lease`: the requests and the watch of the Lease;
//! - `label`: the label of the leader on the Pod of this process;
//! - `release`: the end.

mod label;
mod lease;
mod release;

use std::mem;

use actix::{Actor, Addr, Context, Handler};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    task::{AbortHandle, JoinHandle},
};

use super::{
    mailbox::{Metered, Receive, post},
    messages::{Answered, Released},
    problem::Problem,
    supervised::{self, ActorPanic, Supervised, Supervision, guarded},
    timer::Timer,
    watching::DEGRADED_AFTER,
};
use crate::{
    board::{Board, Leadership},
    cluster::{Cluster, election_now},
    election::{Act, Election, Fence, FenceReach, Input, PodLabel, Timing},
    execute::{Gate, now},
    metrics::{MailboxDepth, Metrics},
    object::ObjectKey,
    operator::OperatorName,
};

pub(crate) struct ElectorParts {
    /// Without the fence.
    pub(crate) cluster: Cluster,
    /// Where requests and the watch run.
    pub(crate) runtime: Handle,
    pub(crate) lease: ObjectKey,
    /// The Pod of this process, which has the label of the leader while it leads.
    pub(crate) pod: Option<ObjectKey>,
    pub(crate) identity: String,
    pub(crate) timing: Timing,
    /// The fence of the operators' writes.
    pub(crate) fence: Fence,
    pub(crate) reach: FenceReach,
    pub(crate) board: Board,
    pub(crate) metrics: Metrics,
    pub(crate) mailbox: MailboxDepth,
}

pub(crate) struct Elector {
    parts: ElectorParts,
    /// The operators that work while this process leads.
    operators: Vec<(OperatorName, Gate)>,
    election: Election,
    timer: Timer,
    leads: bool,
    /// Why the last request failed.
    problem: Problem,
    watching: Option<AbortHandle>,
    label: PodLabel,
    /// The request for the label that was sent last.
    labelling: Option<JoinHandle<()>>,
    supervision: Supervision,
}

impl Elector {
    /// Starts as a standby: no reconcile begins before the Lease is held.
    pub(crate) fn start(parts: ElectorParts) -> Elected {
        let election = election(&parts);
        parts.metrics.election_began(&parts.lease.to_string());
        let mailbox = parts.mailbox.clone();
        let lease = parts.lease.to_string();
        let (operators, timer, leads, problem, watching) = <_>::default();
        let (label, labelling, supervision) = <_>::default();
        let elector = Self {
            parts,
            operators,
            election,
            timer,
            leads,
            problem,
            watching,
            label,
            labelling,
            supervision,
        };
        Elected { elector: Actor::start(elector), mailbox, lease }
    }

    fn step(&mut self, input: Input, ctx: &mut Context<Self>) {
        let act = self.election.step(input, election_now());
        self.apply_role();
        self.follow_role(ctx);
        match act {
            Act::Read => self.read(ctx),
            Act::Write(lease) => self.write(lease, ctx),
            Act::Wait(until) => {
                let delay = until.from(election_now().boot);
                self.timer.set(
                    delay,
                    ctx,
                    |this| &mut this.timer,
                    |this, ctx| guarded(this, ctx, |this, ctx| this.step(Input::Due, ctx)),
                );
            }
            Act::Await => {}
        }
        self.show();
    }

    /// The fence is set before the gates open, and stays open by time alone.
    fn apply_role(&mut self) {
        let until = self.election.leads_until();
        self.parts.fence.set(until);
        if mem::replace(&mut self.leads, until.is_some()) == until.is_some() {
            return;
        }
        let lease = self.parts.lease.to_string();
        self.parts.metrics.leads(&lease, self.leads);
        if self.leads {
            tracing::info!(lease, identity = self.parts.identity, "this process leads");
            self.operators.iter().for_each(|(_, gate)| gate.open());
        } else {
            let holder = self.election.holder().unwrap_or("nobody");
            tracing::warn!(lease, holder, "this process leads no more");
            self.hold_operators();
        }
    }

    fn hold_operators(&self) {
        self.operators.iter().for_each(|(_, gate)| gate.hold());
    }

    fn show(&self) {
        let names: Vec<OperatorName> =
            self.operators.iter().map(|(name, _)| name.clone()).collect();
        let leadership = Leadership {
            lease: self.parts.lease.to_string(),
            identity: self.parts.identity.clone(),
            leads: self.leads,
            holder: self.election.holder().map(str::to_owned),
            problem: self.problem.why().cloned(),
            is_lost: self.is_lost(),
            reach: self.parts.reach,
            share: None,
        };
        self.parts.board.set_leadership(&names, &leadership);
    }

    /// Whether the Lease could not be used for so long that this process neither leads nor knows who does.
    fn is_lost(&self) -> bool {
        !self.leads && self.problem.lasts(DEGRADED_AFTER, now().monotonic)
    }
}

fn election(parts: &ElectorParts) -> Election {
    let place = (parts.lease.namespace.as_deref().unwrap_or_default(), &*parts.lease.name);
    Election::new(place, &parts.identity, parts.timing)
}

impl Actor for Elector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.watch(ctx);
        self.step(Input::Due, ctx);
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        self.watching.take().iter().for_each(AbortHandle::abort);
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for Elector
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        supervised::receive(self, metered, ctx);
    }
}

impl Supervised for Elector {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.supervision
    }

    fn title(&self) -> String {
        format!("the leader election by {}", self.parts.lease)
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.parts.board
    }

    /// Nothing is written until the Lease was read again.
    fn panicked(&mut self, panic: &ActorPanic, ctx: &mut Context<Self>) {
        self.timer.clear(ctx);
        self.watching.take().iter().for_each(AbortHandle::abort);
        self.election = election(&self.parts);
        self.problem.set(Some(panic.sentence()), now().monotonic);
        self.apply_role();
        self.label = PodLabel::default();
        self.follow_role(ctx);
        self.show();
        for (operator, _) in &self.operators {
            self.parts.metrics.restarted(operator);
            self.parts.board.restarted(operator, &panic.why);
        }
    }

    fn restarted(&mut self, ctx: &mut Context<Self>) {
        self.problem.set(None, now().monotonic);
        self.watch(ctx);
        self.step(Input::Due, ctx);
    }
}

impl Receive<Answered> for Elector {
    fn receive(&mut self, answered: Answered, ctx: &mut Self::Context) {
        let Answered { input, problem } = answered;
        if let Some(problem) = &problem {
            tracing::warn!(lease = %self.parts.lease, problem, "the Lease cannot be used");
        }
        // A standby that sees the Lease knows who leads. A leader has to renew it.
        if !matches!(input, Input::Seen(_)) || !self.leads {
            self.problem.set(problem, now().monotonic);
        }
        self.step(input, ctx);
    }
}

/// An operator works while this process leads. Its gate is held.
pub(super) struct Joined {
    operator: OperatorName,
    gate: Gate,
}

pub(super) struct Parted {
    operator: OperatorName,
}

impl Receive<Joined> for Elector {
    const ALWAYS: bool = true;

    fn receive(&mut self, Joined { operator, gate }: Joined, _: &mut Self::Context) {
        if self.leads {
            gate.open();
        }
        self.operators.push((operator, gate));
        self.show();
    }
}

impl Receive<Parted> for Elector {
    const ALWAYS: bool = true;

    fn receive(&mut self, Parted { operator }: Parted, _: &mut Self::Context) {
        self.operators.retain(|(name, _)| *name != operator);
    }
}

/// A running election. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Elected {
    elector: Addr<Elector>,
    mailbox: MailboxDepth,
    lease: String,
}

impl Elected {
    /// The namespace and name of the Lease.
    pub(crate) fn lease(&self) -> &str {
        &self.lease
    }

    /// Adds an operator, whose gate is held: it works while this process leads.
    pub(crate) fn join(&self, operator: OperatorName, gate: Gate) {
        gate.hold();
        post(&self.elector, &self.mailbox, Joined { operator, gate });
    }

    pub(crate) fn part(&self, operator: OperatorName) {
        post(&self.elector, &self.mailbox, Parted { operator });
    }

    /// Gives the Lease back, if this process holds it, after its last write. Where a reconcile or a write did not end it
    /// expires. Nothing more is written but the label of the Pod, which is removed.
    pub(crate) async fn release(&self) {
        let (done, is_done) = oneshot::channel();
        post(&self.elector, &self.mailbox, Released { done });
        // The sender is dropped when it is done.
        let _ = is_done.await;
    }
}
