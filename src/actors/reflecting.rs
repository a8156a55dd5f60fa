//! What the reflectors of types and those of related objects do alike: the supervisor joins operators to them and stops
//! them, they have a heartbeat, and after a panic they and the operators that they notify are restarted.
//!
//! ```text
//! supervisor --Control--> reflector --changes, conditions, ReflectorPanicked--> OperatorActor
//! ```

use std::time::Instant;

use actix::{Actor, ActorContext, Addr, AsyncContext, Context, Handler};

use super::{
    backlog::Batch,
    mailbox::{Metered, Receive, post},
    messages::{Heartbeat, ReflectorPanicked},
    observers::{Observer, Observers},
    operator_actor::{OperatorActor, handle::OperatorHandle},
    supervised::{ActorPanic, Supervised, Supervision},
    watching::WatchParts,
};
#[cfg(feature = "testkit")]
use crate::board::Board;
use crate::{
    board::{BEAT_EVERY, Pulse},
    metrics::MailboxDepth,
    operator::OperatorName,
};

/// What each reflector has.
pub(crate) struct Reflecting<B: Batch> {
    pub(super) parts: WatchParts,
    pub(super) observers: Observers<B>,
    pulse: Pulse,
    supervision: Supervision,
}

/// What differs between the reflectors.
pub(crate) trait Reflects: Actor<Context = Context<Self>> {
    /// The changes that its operators receive.
    type Changes: Batch;

    /// What it is, such as `the reflector of pods`.
    fn title(&self) -> String;

    fn reflecting(&self) -> &Reflecting<Self::Changes>;

    fn reflecting_mut(&mut self) -> &mut Reflecting<Self::Changes>;

    /// How often its scopes were changed.
    fn generation(&self) -> u64 {
        0
    }

    /// Notifies a new operator of what is known.
    fn welcome(&self, observer: &Observer<Self::Changes>);

    /// Ends its watches after a panic.
    fn end(&mut self, panic: &ActorPanic);

    /// Starts its watches again.
    fn begin(&mut self, ctx: &mut Context<Self>);
}

/// A started reflector, as the supervisor controls it.
pub(crate) struct Controlled<A: Actor> {
    pub(super) reflector: Addr<A>,
    pub(super) mailbox: MailboxDepth,
}

/// A command of the supervisor.
pub(crate) enum Control<B: Batch> {
    /// An operator is to be notified.
    Join(Observer<B>),
    /// An operator is no longer to be notified.
    Part(OperatorName),
    /// Nobody needs the reflector.
    Stop,
}

impl<B: Batch> Reflecting<B> {
    pub(super) fn new(parts: WatchParts, name: String) -> Self {
        let pulse = parts.board.pulse(name, Instant::now());
        let (observers, supervision) = <_>::default();
        Self { parts, observers, pulse, supervision }
    }

    pub(super) fn is_down(&self) -> bool {
        self.supervision.is_down
    }
}

// === control ===

impl<A> Controlled<A>
where
    A: Reflects + Handler<Metered<Control<A::Changes>>>,
    OperatorActor: Receive<A::Changes>,
{
    pub(super) fn start(reflector: A) -> Self {
        let mailbox = reflector.reflecting().parts.mailbox.clone();
        Self { reflector: reflector.start(), mailbox }
    }

    /// Adds an operator to notify. It is notified of what is known at once.
    pub(crate) fn join(&self, name: OperatorName, operator: &OperatorHandle) {
        self.control(Control::Join(Observer::new(name, operator)));
    }

    pub(crate) fn part(&self, operator: OperatorName) {
        self.control(Control::Part(operator));
    }

    /// Ends the watches and the actor.
    pub(crate) fn stop(&self) {
        self.control(Control::Stop);
    }

    fn control(&self, control: Control<A::Changes>) {
        post(&self.reflector, &self.mailbox, control);
    }
}

impl<A: Reflects> Receive<Control<A::Changes>> for A {
    const ALWAYS: bool = true;

    fn receive(&mut self, control: Control<A::Changes>, ctx: &mut Context<A>) {
        match control {
            Control::Join(observer) => {
                self.welcome(&observer);
                let generation = self.generation();
                self.reflecting_mut().observers.add(observer, generation);
            }
            Control::Part(operator) => self.reflecting_mut().observers.remove(&operator),
            Control::Stop => ctx.stop(),
        }
    }
}

// === heartbeats ===

/// Starts the heartbeat.
pub(super) fn beat<A: Reflects + Handler<Metered<Heartbeat>>>(ctx: &mut Context<A>) {
    ctx.run_interval(BEAT_EVERY, |reflector, ctx| {
        post(&ctx.address(), &reflector.reflecting().parts.mailbox, Heartbeat);
    });
}

impl<A: Reflects> Receive<Heartbeat> for A {
    const ALWAYS: bool = true;

    fn receive(&mut self, _: Heartbeat, _: &mut Context<A>) {
        self.reflecting().pulse.beat(Instant::now());
    }
}

// === restarts ===

impl<A: Reflects> Supervised for A {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.reflecting_mut().supervision
    }

    fn title(&self) -> String {
        Reflects::title(self)
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.reflecting().parts.board
    }

    /// The operators start again too, because a change may not have been reported.
    fn panicked(&mut self, panic: &ActorPanic, _: &mut Context<A>) {
        self.end(panic);
        let panicked = ReflectorPanicked { why: panic.why.as_str().into() };
        self.reflecting().observers.post(&panicked);
    }

    fn restarted(&mut self, ctx: &mut Context<A>) {
        self.begin(ctx);
    }
}
