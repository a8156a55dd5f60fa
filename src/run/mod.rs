//! One reconcile as a state machine without I/O: it processes events and returns effects.
//!
//! Layer 6. The machine never awaits, locks, logs, counts or reads a clock. It reads only a [`Snapshot`] that
//! is taken before each step.
//!
//! ```text
//! Event, Snapshot, Now --> Machine::step --> Effects          (execute performs them)
//!                              |
//!  begin --> related --> handler --> plan --> writes --> status     stages, each in a file of its own
//!                              |
//!        modules: child, parent, guard, drift --> Turn: next step, facts, changes of the caches
//!                              |
//!                      Journal, Memory, Drift                 learn only from facts
//! ```
//!
//! Invariants:
//! - a parent with a deletionTimestamp is never synced: no child is created or changed;
//! - a handler that failed, or whose response is refused, leads to no write and no deletion of a child;
//! - while the parent or the operator is paused no child is written or deleted and no finalizer changes;
//! - a reconcile that wrote children leaves the status to the one that follows it, except after failures
//!   and for the third in a row;
//! - the modules never call each other, and read only their `View`.

mod begin;
mod carry_out;
mod child;
mod conclude;
mod decorate;
mod drift;
mod effect;
mod finalize;
mod guard;
mod handler;
mod memory;
mod parent;
mod preview;
mod redacting;
mod related;
mod request;
mod settings;
mod sibling;
mod snapshot;
mod stage;
mod turn;
mod view;

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc, time::Instant};

pub(crate) use effect::{
    Aim, Cache, Effect, Event, HandlerError, Previewed, Purpose, RequestId, Response,
};
pub(crate) use memory::Memory;
pub(crate) use request::{Answer, DryRun, Force, Reply, Request, Whole};
pub(crate) use settings::Settings;
pub(crate) use sibling::Sibling;
pub(crate) use snapshot::{Now, Snapshot};
#[cfg(test)]
pub(crate) use turn::StopReason;

use self::{
    drift::Drift,
    snapshot::Overlaid,
    stage::{Awaited, Stage},
    turn::Turn,
    view::View,
};
use crate::{
    history::{Laps, ReconcileStep, StepTimes},
    journal::{End, Fact, Journal, PausedBy},
    object::{Object, ObjectKey, Redactor, Uid},
    operator::{Children, Decoration, DesiredChild},
    plan::{ChildId, FinishedJobs},
    report::{Announced, Report},
};

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) key: ObjectKey,
    /// The parent's uid: another object of the same name is another parent.
    pub(crate) uid: Uid,
    /// How many reconciles directly before this one wrote children.
    pub(crate) after_writes: u32,
    pub(crate) memory: Memory,
}

/// One reconcile.
#[derive(Debug)]
pub(crate) struct Machine {
    settings: Arc<Settings>,
    key: ObjectKey,
    uid: Uid,
    after_writes: u32,
    journal: Journal,
    memory: Memory,
    drift: Drift,
    redactor: Option<Redactor>,
    /// What the handler returned that may be secret.
    returned: Vec<DesiredChild>,
    /// The parent as the reconcile sees it.
    parent: Option<Object>,
    /// The cached objects that refer to the parent, at the time of the handler call.
    observed: Children,
    /// The related objects; `None` until they are known, and where the operator has none.
    related: Option<Children>,
    /// The desired children whose readiness does not count.
    uncounted: BTreeSet<ChildId>,
    /// The desired Jobs that have finished and have a TTL.
    finished_jobs: FinishedJobs,
    stage: Stage,
    /// What a decorator puts on the parent, from the plan until it is there.
    decoration: Option<Decoration>,
    /// The result of a preview; `None` for a reconcile that writes.
    preview: Option<Box<Previewed>>,
    /// The unanswered requests, and the purpose of each.
    in_flight: Vec<(RequestId, Awaited)>,
    last_request: RequestId,
    effects: Vec<Effect>,
    times: StepTimes,
    step_began: Option<Instant>,
    /// The steps that ended since this was read.
    laps: Laps,
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) journal: Journal,
    pub(crate) memory: Memory,
    /// The redactor for texts of handlers and servers.
    pub(crate) redactor: Redactor,
    /// The parent as last seen; `None` when it was gone.
    pub(crate) parent: Option<Object>,
    pub(crate) times: StepTimes,
    /// What it would have done, where it was only to be shown and could be planned.
    pub(crate) preview: Option<Box<Previewed>>,
}

/// The input of one step: the snapshot and the time.
struct Moment<'a> {
    snapshot: &'a dyn Snapshot,
    now: Now,
}

impl Machine {
    pub(crate) fn new(settings: Arc<Settings>, job: Job) -> Self {
        let Job { key, uid, after_writes, memory } = job;
        let (journal, drift, parent, observed, related, uncounted, redactor, preview) =
            <_>::default();
        let (in_flight, effects, last_request, times, step_began, decoration) = <_>::default();
        let (finished_jobs, laps, returned) = <_>::default();
        let stage = Stage::Fresh;
        Self {
            settings,
            key,
            uid,
            after_writes,
            journal,
            memory,
            drift,
            redactor,
            returned,
            parent,
            observed,
            related,
            uncounted,
            finished_jobs,
            stage,
            decoration,
            preview,
            in_flight,
            last_request,
            effects,
            times,
            step_began,
            laps,
        }
    }

    pub(crate) fn step(&mut self, event: Event, snapshot: &dyn Snapshot, now: Now) -> Vec<Effect> {
        let at = Moment { snapshot, now };
        self.step_began.get_or_insert(now.monotonic);
        match event {
            Event::Started(Aim::Reconcile) => self.started(&at),
            Event::Started(Aim::Plan(instead)) => self.preview(instead, &at),
            Event::HandlerReturned(result) => self.handler_returned(result, &at),
            Event::HandlerTimeout(deadline) => self.handler_timed_out(deadline, &at),
            Event::Answered(id, answer) => self.answered(id, answer, &at),
            Event::Reserved(reserved) => self.reserved(reserved, &at),
            Event::Resumed => self.resumed(&at),
            Event::SchemaRead(schema) => self.schema_read(schema, &at),
        }
        std::mem::take(&mut self.effects)
    }

    /// The steps of the reconcile that ended since the last call, in their order.
    pub(crate) fn laps(&mut self) -> impl Iterator<Item = ReconcileStep> + use<> {
        std::mem::take(&mut self.laps).ended()
    }

    pub(crate) fn parent(&self) -> Option<&Object> {
        self.parent.as_ref()
    }

    pub(crate) fn announced_mut(&mut self) -> &mut Announced {
        self.memory.announced_mut()
    }

    pub(crate) fn end(mut self) -> Ended {
        self.memory.shrink();
        let Self { journal, memory, parent, times, redactor, preview, .. } = self;
        Ended { journal, memory, redactor: redactor.unwrap_or_default(), parent, times, preview }
    }

    // === shared by all stages ===

    fn note(&mut self, facts: impl IntoIterator<Item = Fact>, at: &Moment<'_>) {
        let calm = self.settings.calm();
        for fact in facts {
            self.memory.learn(&fact, at.now, calm);
            self.drift.learn(&fact);
            self.journal.append(fact);
        }
    }

    /// Records the facts and cache changes of a turn, and returns its next step.
    fn take<N>(&mut self, turn: Turn<N>, at: &Moment<'_>) -> N {
        self.note(turn.facts, at);
        self.effects.extend(turn.cache.into_iter().map(Effect::Cache));
        turn.next
    }

    fn send(&mut self, request: Request, awaited: Awaited) {
        self.last_request += 1;
        self.in_flight.push((self.last_request, awaited));
        self.effects.push(Effect::Send(self.last_request, request));
    }

    /// Calls a module with its view.
    fn view<T>(&self, at: &Moment<'_>, f: impl FnOnce(&View<'_>) -> T) -> Option<T> {
        let parent = self.parent.as_ref()?;
        Some(f(&View {
            settings: &self.settings,
            snapshot: self.overlaid(at),
            now: at.now,
            parent,
            memory: &self.memory,
            progress: self.journal.progress(),
            drift: &self.drift,
        }))
    }

    /// A preview does not look at its parent again: it may be for another version than the cached one.
    fn overlaid<'a>(&'a self, at: &Moment<'a>) -> Overlaid<'a> {
        let snapshot = Overlaid::new(at.snapshot, &self.effects, &self.settings);
        snapshot.with_parent(self.parent.as_ref().filter(|_| self.preview.is_some()))
    }

    /// The same, and records the turn that it returns.
    fn ask<N>(&mut self, at: &Moment<'_>, f: impl FnOnce(&View<'_>) -> Turn<N>) -> Option<N> {
        let turn = self.view(at, f)?;
        Some(self.take(turn, at))
    }

    fn report(&self, at: &Moment<'_>) -> Report {
        let calms_in = self.memory.flapping().calms_in(at.now.monotonic, self.settings.calm());
        let nothing = Redactor::default();
        let redactor = self.redactor.as_ref().unwrap_or(&nothing);
        Report::of(self.journal.facts(), self.memory.view(calms_in, false), redactor)
    }

    /// A step of the reconcile has ended.
    fn lap(&mut self, step: ReconcileStep, at: &Moment<'_>) {
        let began = self.step_began.replace(at.now.monotonic).unwrap_or(at.now.monotonic);
        self.times.add(step, at.now.monotonic.saturating_duration_since(began));
        self.laps.add(step);
    }

    /// The snapshot shows what the last step found.
    fn resumed(&mut self, at: &Moment<'_>) {
        match std::mem::replace(&mut self.stage, Stage::Fresh) {
            Stage::Judging(status) => self.judge_readiness(status, at),
            Stage::Asking(asks) => self.related_asked(&asks, at),
            _ => self.call(Purpose::Sync, at),
        }
    }

    fn paused_by_now(&self, at: &Moment<'_>) -> Option<PausedBy> {
        self.view(at, |view| -> Option<PausedBy> { view.paused_by_now() }).flatten()
    }

    fn has_left(&self, at: &Moment<'_>) -> bool {
        self.view(at, |view| -> bool { view.has_left() }).unwrap_or_default()
    }

    fn is_alive(&self) -> bool {
        self.journal.progress().is_alive()
    }

    fn answered(&mut self, id: RequestId, answer: Answer, at: &Moment<'_>) {
        let Some(index) = self.in_flight.iter().position(|(known, _)| *known == id) else { return };
        let (_, awaited) = self.in_flight.swap_remove(index);
        match awaited {
            Awaited::Parent => self.parent_read(answer, at),
            Awaited::Leaving(parent) => self.leaving_parent_read(&parent, answer, at),
            Awaited::Finalizer(state) => {
                let next = self.ask(at, |view| parent::finalizer::answered(state, answer, view));
                self.finalizer_next(next, at);
            }
            Awaited::UndecodableChild(child) => self.undecodable_child_read(&child, answer, at),
            Awaited::Listed(ty) => self.listed(&ty, answer, at),
            Awaited::Doubtful(write, live) => self.doubtful_checked(&write, &live, answer, at),
            Awaited::TerminatingChildren(child) => self.terminating_read(&child, answer, at),
            Awaited::MayCreate => self.parent_reread(answer, at),
            Awaited::Child(state) => {
                let next = self.ask(at, |view| child::answered(*state, answer, view));
                self.child_next(next, at);
            }
            Awaited::Decoration(state) => {
                let next = self.ask(at, |view| parent::decoration::answered(*state, answer, view));
                self.decoration_next(next, at);
            }
            Awaited::Status(state) => {
                let next = self.ask(at, |view| parent::status::answered(*state, answer, view));
                self.status_next(next, at);
            }
        }
    }

    fn finish(&mut self, at: &Moment<'_>) {
        if self.awaits_redactor(at) {
            self.stage = Stage::Redacting(stage::Then::Finish);
            return;
        }
        self.remember_marked(at);
        self.stage = Stage::Finished;
        self.effects.push(Effect::Finished);
    }

    fn parent_is(&mut self, end: End, at: &Moment<'_>) {
        self.note([Fact::Parent(end)], at);
    }
}
