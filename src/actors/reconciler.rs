//! One actor per parent: it reconciles the parent when the schedule decides so.

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
    mailbox::{Metered, MeteredRecipient, Receive, post},
    messages::{Admitted, Awaits, Ended},
    shown::{cause, history_entry, known_pause, message, next_wake, shown, stage},
    timer::Timer,
    written::log_writes,
};
use crate::{
    board::{Board, ParentState, ReconcileStage},
    execute::{
        Context, Entry, Permit, Reconciled, Ticket, now, reconcile_in_a_row, reconcile_span,
    },
    history::{Cause, Causes, Reconcile},
    metrics::{MailboxDepth, Standing},
    object::{Object, ObjectKey, Uid},
    operator::{Pause, is_paused},
    plan::{ChildId, DeletionGuard},
    run::{Job, Memory},
    schedule::{Action, Finished, Input, Phase, Priority, Schedule, Trigger, Wake, WakeReason},
    store::StoreReader,
};

#[derive(Clone)]
pub(super) struct ReconcilerParts {
    pub(super) context: Arc<Context>,
    pub(super) runtime: Handle,
    pub(super) board: Board,
    pub(super) parents: StoreReader,
    /// Counts the messages that wait for all of them.
    pub(super) mailbox: MailboxDepth,
    /// The recipient of their ends.
    pub(super) ended: MeteredRecipient<Ended>,
    /// The recipient of the foreign objects that they wait for.
    pub(super) awaits: MeteredRecipient<Awaits>,
}

/// The parts of all reconcilers of an operator were replaced.
pub(super) struct Replaced {
    pub(super) parts: Arc<ReconcilerParts>,
}

/// Answers for one parent. It is small, because there is one for each parent.
pub(super) struct Reconciler {
    parts: Arc<ReconcilerParts>,
    key: ObjectKey,
    uid: Uid,
    schedule: Schedule,
    memory: Memory,
    /// The gauges that count the parent.
    gauges: Box<[Standing]>,
    causes: Causes,
    timer: Timer,
    ticket: Option<Ticket>,
    /// When the last change was received.
    last_touch: Option<Instant>,
    deferred: Deferred,
    /// What the last reconcile reported of a pause.
    pause: Option<Arc<Pause>>,
    awaited: Awaited,
    /// Whether the operator knows foreign objects that the parent waits for.
    awaits_others: bool,
}

impl Reconciler {
    pub(super) fn new(parts: Arc<ReconcilerParts>, key: ObjectKey, uid: Uid) -> Self {
        let schedule = Schedule::new(seed(&uid));
        let (memory, causes) = (Memory::default(), Causes::default());
        let (timer, ticket, last_touch, deferred, awaited, awaits_others, gauges) = <_>::default();
        let pause = None;
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
            pause,
            awaited,
            awaits_others,
        }
    }

    fn touched(&mut self, trigger: Trigger, cause: Cause, ctx: &mut actix::Context<Self>) {
        self.causes.add(cause);
        self.last_touch = Some(now().monotonic);
        self.step(Input::Touched(trigger), ctx);
    }

    fn step(&mut self, input: Input, ctx: &mut actix::Context<Self>) {
        let action = self.decide(input);
        // The end of a reconcile shows all other timers; this one may be set at any time.
        let is_news = matches!(
            action,
            Action::WakeAt(Wake { why: WakeReason::Debounce | WakeReason::Spread, .. })
        );
        self.perform(action, ctx);
        if is_news {
            self.show(Vec::new());
        }
    }

    fn perform(&mut self, action: Action, ctx: &mut actix::Context<Self>) {
        match action {
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
        self.schedule.step(input, &self.parts.context.settings.policy(), now().monotonic)
    }

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

    /// Dropping a permit that is not needed passes it to the next in the queue.
    fn admitted(&mut self, permit: Permit, ctx: &mut actix::Context<Self>) {
        self.ticket = None;
        if let Action::Reconcile { after_writes } = self.decide(Input::Admitted) {
            self.reconcile(permit, after_writes, ctx);
        }
    }

    fn reconcile(&mut self, permit: Permit, after_writes: u32, ctx: &mut actix::Context<Self>) {
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
        let span = reconcile_span(&context, &self.key, &causes);
        self.show_stage(ReconcileStage::InProgress);
        let work = context.metrics().activity().begin();
        let running = self.parts.runtime.spawn(async move {
            // An asynchronous handler awaits for most of the time: other operators go on meanwhile.
            let permit = if context.is_async() { permit.unshared() } else { permit };
            let reconciling = pin!(reconcile_in_a_row(&context, job, span));
            permit.during(reconciling).await
        });
        ctx.spawn(fut::wrap_future(running).map(move |joined, this: &mut Self, ctx| {
            this.finished(joined, causes, ctx);
            drop(work);
        }));
    }

    fn finished(
        &mut self,
        joined: Result<Vec<Reconciled>, JoinError>,
        causes: Vec<Cause>,
        ctx: &mut actix::Context<Self>,
    ) {
        // A reconcile that panics reports it; only the end of the process cancels one.
        let Ok(reports) = joined else {
            return self.step(Input::Finished(Finished::Failed), ctx);
        };
        let mut causes = vec![causes];
        for next in reports.iter().skip(1) {
            causes.push(self.continued(next, ctx));
        }
        let config = self.parts.context.config();
        // Another process works for the parent: this reconciler is about to be retired.
        let Some(last) = reports.last() else {
            return self.step(Input::Finished(Finished::Failed), ctx);
        };
        let finished = last.finished(config);
        // Its own writes do not touch the parent, and the retry may be minutes away.
        let is_followed = finished.is_followed() && !last.writes.is_empty();
        let is_due = self.deferred.end(last.has_deferred_reconcile());
        let mut reconciles = Vec::with_capacity(reports.len());
        self.gauges =
            self.parts.context.metrics().standing(self.parts.context.name(), &last.gauges);
        let refused = last.refused.clone();
        self.pause.clone_from(&last.pause);
        let pause_ends = Input::PauseEnds { after: last.pause_ends_in };
        for (reconciled, causes) in reports.into_iter().zip(causes) {
            let (reconcile, memory) = history_entry(reconciled, causes, config);
            log_writes(self.parts.context.name(), &self.key, &reconcile);
            reconciles.push(reconcile);
            self.memory = memory;
        }
        let has_changed = self.awaits(&refused);
        if is_followed || matches!(finished, Finished::Wrote | Finished::Recreating) {
            self.causes.add(Cause::OwnWrites);
        }
        self.decide(pause_ends);
        let action = self.decide(Input::Finished(finished));
        self.perform(action, ctx);
        if has_changed {
            self.step(Input::Touched(Trigger::Awaited), ctx);
        } else if is_followed {
            self.step(Input::Touched(Trigger::ChildOrStatus), ctx);
        }
        if is_due && self.schedule.phase() == Phase::Resting {
            // A resting schedule ignores weaker triggers.
            self.step(Input::Touched(Trigger::Asked), ctx);
        }
        self.show(reconciles);
    }

    /// Records the objects whose change ends a wait, and sends the foreign ones to the operator. Returns whether one
    /// of them has changed already.
    fn awaits(&mut self, refused: &[ChildId]) -> bool {
        let foreign: Vec<_> = self.memory.foreign().values().cloned().collect();
        let has_changed = self.awaited.end(refused, &foreign);
        if self.awaits_others || !foreign.is_empty() {
            self.awaits_others = !foreign.is_empty();
            self.parts.awaits.post(Awaits { parent: self.uid.clone(), foreign });
        }
        has_changed
    }

    fn continued(&mut self, next: &Reconciled, ctx: &mut actix::Context<Self>) -> Vec<Cause> {
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

    fn show(&self, reconciles: Vec<Reconcile>) {
        let phase = self.schedule.phase();
        if phase == Phase::Stopped {
            return;
        }
        let parent = self.parts.parents.get(&self.key);
        let parent = parent.filter(|parent| *parent.uid() == self.uid);
        let is_leaving =
            parent.as_ref().is_some_and(|it| self.parts.context.settings.is_leaving(it));
        let paused = parent.as_ref().filter(|parent| is_paused(parent, now().wall));
        let since = paused.and_then(|parent| self.parts.context.paused_since(parent));
        self.update(|state| {
            for reconcile in reconciles {
                state.message = message(&state.history.record(reconcile));
            }
            state.generation = parent.as_ref().and_then(Object::generation);
            let (reported, known) = (self.pause.as_deref(), state.pause.take());
            state.pause = paused.map(|_| known_pause(reported, known.as_deref(), since));
            let is_paused = self.deferred.is_deferred || paused.is_some();
            state.phase = shown(phase, &state.history, is_paused, is_leaving);
            state.failures = self.schedule.failures();
            state.flapping_summary = self.memory.flapping().flapping_summary().map(Box::new);
            let held = self.memory.deletion_guard();
            state.approval = held.and_then(DeletionGuard::code).map(Box::from);
            state.set_stage(stage(phase));
            state.next_wake = next_wake(self.schedule.next_wake());
        });
    }

    fn set_timer(&mut self, wake: Wake, ctx: &mut actix::Context<Self>) {
        let delay = wake.at.saturating_duration_since(now().monotonic);
        let fired = move |this: &mut Self, ctx: &mut actix::Context<Self>| {
            if let Some(cause) = cause(wake.why) {
                this.causes.add(cause);
            }
            this.step(Input::TimerFired, ctx);
        };
        self.timer.set(delay, ctx, |this| &mut this.timer, fired);
    }
}

/// Spreads the retries of parents that fail together.
pub(super) fn seed(uid: &Uid) -> u64 {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    hasher.finish()
}

impl Actor for Reconciler {
    type Context = actix::Context<Self>;
}

impl Drop for Reconciler {
    /// Reports the end in all cases: after `Retire`, which may wait for a reconcile; when the last address
    /// is dropped before `Retire` is read; or after a panic.
    fn drop(&mut self) {
        self.parts.ended.post(Ended { key: self.key.clone(), uid: self.uid.clone() });
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for Reconciler
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        let (message, _work) = metered.received();
        self.receive(message, ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_depends_on_the_uid_alone() {
        assert_ne!(seed(&Uid::new("a")), seed(&Uid::new("b")));
        assert_eq!(seed(&Uid::new("a")), seed(&Uid::new("a")));
    }
}
