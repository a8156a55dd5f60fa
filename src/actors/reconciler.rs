//! One actor per parent: it reconciles the parent when its schedule says so.

mod receive;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    pin::pin,
    sync::Arc,
    time::Instant,
};

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Handler, fut};
use tokio::{runtime::Handle, task::JoinError};

use super::{
    awaited::Awaited,
    deferred::Deferred,
    mailbox::{Metered, MeteredMessage, MeteredRecipient, Receive, post},
    messages::{Admitted, Awaits, Ended},
    shown::{cause, message, next_wake, run_of, shown, stage},
    timer::Timer,
};
use crate::{
    board::{Board, ParentState, ReconcileStage},
    execute::{Context, Entry, Permit, Reconciled, Ticket, reconcile_in_a_row},
    history::{Cause, Causes, Reconcile},
    metrics::{MailboxDepth, Standing},
    object::{Object, ObjectKey, Uid},
    operator::is_paused,
    plan::ChildId,
    run::{Job, Memory},
    schedule::{Action, Finished, Input, Phase, Priority, Schedule, Trigger, Wake, WakeReason},
    store::StoreReader,
};

/// What the reconcilers of an operator share.
pub(super) struct ReconcilerParts {
    pub(super) context: Arc<Context>,
    pub(super) runtime: Handle,
    pub(super) board: Board,
    pub(super) parents: StoreReader,
    /// Where it is shown how many messages wait for them together.
    pub(super) mailbox: MailboxDepth,
    /// Who is told of their ends.
    pub(super) ended: MeteredRecipient<Ended>,
    /// Who is told of the objects of others that they wait for.
    pub(super) awaits: MeteredRecipient<Awaits>,
}

/// Answers for one parent. Small: there are as many as parents.
pub(super) struct Reconciler {
    parts: Arc<ReconcilerParts>,
    key: ObjectKey,
    uid: Uid,
    schedule: Schedule,
    memory: Memory,
    /// What counts of the parent as long as it is so.
    gauges: Box<[Standing]>,
    causes: Causes,
    timer: Timer,
    ticket: Option<Ticket>,
    /// When something last changed, as far as this actor knows.
    last_touch: Option<Instant>,
    deferred: Deferred,
    awaited: Awaited,
    /// Whether the operator knows of objects of others that the parent waits for.
    awaits_others: bool,
}

impl Reconciler {
    pub(super) fn new(parts: Arc<ReconcilerParts>, key: ObjectKey, uid: Uid) -> Self {
        let schedule = Schedule::new(seed(&uid));
        let (memory, causes) = (Memory::default(), Causes::default());
        let (timer, ticket, last_touch, deferred, awaited, awaits_others, gauges) = <_>::default();
        Self {
            parts,
            key,
            uid,
            schedule,
            memory,
            gauges,
            causes,
            timer,
            ticket,
            last_touch,
            deferred,
            awaited,
            awaits_others,
        }
    }

    fn touched(&mut self, trigger: Trigger, cause: Cause, ctx: &mut actix::Context<Self>) {
        self.causes.add(cause);
        self.last_touch = Some(Instant::now());
        self.step(Input::Touched(trigger), ctx);
    }

    fn step(&mut self, input: Input, ctx: &mut actix::Context<Self>) {
        let command = self.decide(input);
        // Unlike other timers it may be set when no reconcile has ended, after which all is shown.
        let is_news = matches!(command, Action::WakeAt(Wake { why: WakeReason::Debounce, .. }));
        self.obey(command, ctx);
        if is_news {
            self.show(Vec::new());
        }
    }

    fn obey(&mut self, command: Action, ctx: &mut actix::Context<Self>) {
        match command {
            Action::Enqueue(priority) => self.enqueue(priority, ctx),
            Action::Raise(priority) => {
                if let Some(ticket) = &mut self.ticket {
                    ticket.raise(priority);
                }
            }
            Action::WakeAt(wake) => {
                if matches!(wake.why, WakeReason::Retry | WakeReason::Throttled) {
                    self.parts.context.metrics().backed_off(self.parts.context.name());
                }
                self.set_timer(wake, ctx);
            }
            Action::Rest => self.timer.clear(ctx),
            Action::Stop => ctx.stop(),
            // `admitted` has the permit that a reconcile needs.
            Action::Reconcile { .. } | Action::Continue => {}
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.schedule.phase(), Phase::Running { .. })
    }

    fn decide(&mut self, input: Input) -> Action {
        self.schedule.step(input, &self.parts.context.policy(), Instant::now())
    }

    /// Asks for a place, and runs at once if there is one.
    fn enqueue(&mut self, priority: Priority, ctx: &mut actix::Context<Self>) {
        self.timer.clear(ctx);
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let waiter = move |permit| post(&address, &mailbox, Admitted { permit });
        match self.parts.context.gate().enter(priority, waiter) {
            Entry::Now(permit) => self.admitted(permit, ctx),
            Entry::Later(ticket) => {
                self.ticket = Some(ticket);
                self.show_stage(ReconcileStage::Queued);
            }
        }
    }

    /// A permit that is not needed any more goes to the next by being dropped.
    fn admitted(&mut self, permit: Permit, ctx: &mut actix::Context<Self>) {
        self.ticket = None;
        if let Action::Reconcile { after_writes } = self.decide(Input::Admitted) {
            self.run(permit, after_writes, ctx);
        }
    }

    fn run(&mut self, permit: Permit, after_writes: u32, ctx: &mut actix::Context<Self>) {
        let causes = self.causes.take();
        self.deferred.begin();
        self.awaited.begin();
        let job = Job {
            key: self.key.clone(),
            uid: self.uid.clone(),
            after_writes,
            memory: std::mem::take(&mut self.memory),
        };
        let context = self.parts.context.clone();
        self.show_stage(ReconcileStage::InProgress);
        let running = self.parts.runtime.spawn(async move {
            let run = pin!(reconcile_in_a_row(&context, job));
            permit.during(run).await
        });
        ctx.spawn(fut::wrap_future(running).map(move |joined, this: &mut Self, ctx| {
            this.finished(joined, causes, ctx);
        }));
    }

    fn finished(
        &mut self,
        joined: Result<Vec<Reconciled>, JoinError>,
        causes: Vec<Cause>,
        ctx: &mut actix::Context<Self>,
    ) {
        // A reconcile that dies reports it; only the end of the process cancels one.
        let Ok(reports) = joined else {
            return self.step(Input::Finished(Finished::Failed), ctx);
        };
        let mut causes = vec![causes];
        for next in reports.iter().skip(1) {
            causes.push(self.went_on(next, ctx));
        }
        let config = self.parts.context.config();
        let Some(last) = reports.last() else { return };
        let finished = last.finished(config);
        let is_due = self.deferred.end(last.has_deferred_reconcile());
        let mut reconciles = Vec::with_capacity(reports.len());
        self.gauges =
            self.parts.context.metrics().standing(self.parts.context.name(), &last.gauges);
        let refused = last.refused.clone();
        for (reconciled, causes) in reports.into_iter().zip(causes) {
            let (run, memory) = run_of(reconciled, causes, config);
            reconciles.push(run);
            self.memory = memory;
        }
        let has_changed = self.awaits(&refused);
        if let Finished::Wrote | Finished::Recreating = finished {
            self.causes.add(Cause::OwnWrites);
        }
        let command = self.decide(Input::Finished(finished));
        self.obey(command, ctx);
        if has_changed {
            self.step(Input::Touched(Trigger::Awaited), ctx);
        }
        if is_due && self.schedule.phase() == Phase::Resting {
            // What it was told meanwhile does not wake it.
            self.step(Input::Touched(Trigger::Asked), ctx);
        }
        self.show(reconciles);
    }

    /// Remembers whose change ends a wait, and returns whether there was one already. The operator hears of
    /// objects that are not children of the parent.
    fn awaits(&mut self, refused: &[ChildId]) -> bool {
        let foreign: Vec<_> = self.memory.foreign().values().cloned().collect();
        let has_changed = self.awaited.end(refused, &foreign);
        if self.awaits_others || !foreign.is_empty() {
            self.awaits_others = !foreign.is_empty();
            self.parts.awaits.post(Awaits { parent: self.uid.clone(), foreign });
        }
        has_changed
    }

    /// Takes in that a reconcile was followed by another; returns why that ran.
    fn went_on(&mut self, next: &Reconciled, ctx: &mut actix::Context<Self>) -> Vec<Cause> {
        let saw_all = self.last_touch.is_none_or(|touched| touched < next.began);
        self.step(Input::Continued { saw_all }, ctx);
        let mut causes = vec![Cause::OwnWrites];
        if saw_all {
            self.deferred.begin();
            self.awaited.begin();
            causes.extend(self.causes.take());
        }
        causes
    }

    fn show_stage(&self, stage: ReconcileStage) {
        self.update(|state| state.set_stage(stage));
    }

    fn update(&self, change: impl FnOnce(&mut ParentState)) {
        let ReconcilerParts { context, board, .. } = &*self.parts;
        board.update_parent(context.name(), &self.key, &self.uid, change);
    }

    /// Shows where the parent stands, and the reconciles that brought it there.
    fn show(&self, reconciles: Vec<Reconcile>) {
        let phase = self.schedule.phase();
        if phase == Phase::Stopped {
            return;
        }
        let parent = self.parts.parents.get(&self.key);
        let parent = parent.filter(|parent| *parent.uid() == self.uid);
        let is_leaving = parent.as_ref().is_some_and(|it| self.parts.context.is_leaving(it));
        self.update(|state| {
            for run in reconciles {
                state.message = message(&state.history.record(run));
            }
            state.generation = parent.as_ref().and_then(Object::generation);
            let is_paused = self.deferred.is_owed() || parent.as_ref().is_some_and(is_paused);
            state.phase = shown(phase, &state.history, is_paused, is_leaving);
            state.failures = self.schedule.failures();
            state.flapping_summary = self.memory.flapping().flapping_summary().map(Box::new);
            state.set_stage(stage(phase));
            state.next_wake = next_wake(phase);
        });
    }

    fn set_timer(&mut self, wake: Wake, ctx: &mut actix::Context<Self>) {
        let delay = wake.at.saturating_duration_since(Instant::now());
        let fired = move |this: &mut Self, ctx: &mut actix::Context<Self>| {
            if let Some(cause) = cause(wake.why) {
                this.causes.add(cause);
            }
            this.step(Input::TimerFired, ctx);
        };
        self.timer.set(delay, ctx, |this| &mut this.timer, fired);
    }
}

/// Parents that fail together are not to come back together.
pub(super) fn seed(uid: &Uid) -> u64 {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    hasher.finish()
}

impl Actor for Reconciler {
    type Context = actix::Context<Self>;
}

impl Drop for Reconciler {
    /// However it ends: ordered to, which may have to wait for a reconcile; without having read the order,
    /// as nobody can address it any more; or by a panic.
    fn drop(&mut self) {
        self.parts.ended.post(Ended { key: self.key.clone(), uid: self.uid.clone() });
    }
}

impl<M: MeteredMessage> Handler<Metered<M>> for Reconciler
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, mail: Metered<M>, ctx: &mut Self::Context) {
        self.receive(mail.open(), ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parent_has_times_of_its_own() {
        assert_ne!(seed(&Uid::new("a")), seed(&Uid::new("b")));
        assert_eq!(seed(&Uid::new("a")), seed(&Uid::new("a")), "also in another process");
    }
}
