//! Drives a machine: performs its effects, and tells it what came of them.

use std::{
    collections::VecDeque,
    ops::Deref,
    panic::AssertUnwindSafe,
    time::{Duration, Instant, SystemTime},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{Context, call, look::now};
use crate::{
    history::StepTimes,
    journal::Failure,
    object::Object,
    report::{Report, Teller},
    run::{Aim, Cache, Effect, Ended, Event, Job, Machine, Memory, Now, Snapshot},
    schedule::goes_on,
};

/// A reconcile that has ended.
#[derive(Debug)]
pub struct Reconciled {
    /// What came of it.
    pub report: Report,
    /// What the next one needs to know.
    pub memory: Memory,
    /// When it started.
    pub started: SystemTime,
    /// The same on the clock that never goes back: what changed before was seen.
    pub began: Instant,
    /// How long it took, without the wait for a permit.
    pub took: Duration,
    /// How long its steps took.
    pub steps: StepTimes,
}

/// Reconciles, and after a reconcile that wrote children again at once, on what the replies said: as long
/// as [`goes_on`] says. The caller holds a [`Permit`](super::Permit) until it returns; the last of what comes
/// back holds the memory.
pub async fn run_on(context: &Context, mut job: Job) -> Vec<Reconciled> {
    let mut all = Vec::new();
    loop {
        let (key, uid, after_writes) = (job.key.clone(), job.uid.clone(), job.after_writes + 1);
        let mut reconciled = reconcile(context, job).await;
        let finished = reconciled.finished(context.config());
        let has_created = reconciled.has_created();
        let (is_closed, is_urgent) = (context.gate().is_closed(), context.gate().is_urgent());
        if is_closed || !goes_on(finished, after_writes, is_urgent && !has_created) {
            all.push(reconciled);
            return all;
        }
        let memory = std::mem::take(&mut reconciled.memory);
        all.push(reconciled);
        job = Job { key, uid, after_writes, memory };
    }
}

/// Brings one parent one step closer to what its handler wants. Never fails: what went wrong is in
/// the report, and where a user looks.
pub(super) async fn reconcile(context: &Context, job: Job) -> Reconciled {
    // Taken before anything is read: what changes from then on is not seen by it.
    let (at, metrics) = (now(), context.metrics());
    metrics.reconcile_started(context.name());
    let key = job.key.clone();
    let living = async { Some(concluded(context, driven(context, job).await?, at)) };
    let ended = AssertUnwindSafe(living).catch_unwind().await.ok().flatten();
    let mut reconciled = ended.unwrap_or_else(|| {
        tracing::error!(operator = %context.name(), parent = %key, "a reconcile died; this is a bug");
        Reconciled::new(Report::died(), Memory::default(), at)
    });
    reconciled.took = at.monotonic.elapsed();
    context.steps().took(reconciled.steps);
    let outcome = reconciled.outcome(context.config());
    metrics.reconcile_finished(context.name(), &outcome, reconciled.took);
    reconciled
}

/// Drives a machine to its end; `None` if it waits for nothing and has not ended, which is a bug.
async fn driven(context: &Context, job: Job) -> Option<Ended> {
    let mut driver = Driver::new(context, job, Aim::Reconcile);
    driver.drive().await;
    driver.ended().map(|(ended, _)| ended)
}

/// Performs the effects of one machine.
pub(super) struct Driver<'a> {
    context: &'a Context,
    /// The parent that the machine is about, from the moment on at which it writes.
    parent: Option<Object>,
    machine: Machine,
    events: VecDeque<Event>,
    in_progress: InProgress<'a>,
    is_finished: bool,
}

/// What is still going on.
pub(super) type InProgress<'a> = FuturesUnordered<BoxFuture<'a, Done<'a>>>;

/// What has come of what was ordered.
pub(super) enum Done<'a> {
    Event(Event),
    Overdue(call::Overdue<'a>),
}

impl<'a> Driver<'a> {
    pub(super) fn new(context: &'a Context, job: Job, aim: Aim) -> Self {
        Self {
            context,
            parent: None,
            machine: Machine::new(context.settings().clone(), job),
            events: VecDeque::from([Event::Started(aim)]),
            in_progress: FuturesUnordered::new(),
            is_finished: false,
        }
    }

    pub(super) async fn drive(&mut self) {
        while let Some(event) = self.next().await {
            self.step(event);
        }
    }

    /// What the machine left, and a handler that has not returned; `None` if the machine has not ended.
    pub(super) fn ended(self) -> Option<(Ended, InProgress<'a>)> {
        self.is_finished.then(|| (self.machine.end(), self.in_progress))
    }

    /// The next event; `None` when nothing more is to come.
    async fn next(&mut self) -> Option<Event> {
        if self.is_finished {
            return None;
        }
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        match self.in_progress.next().await? {
            Done::Event(event) => Some(event),
            Done::Overdue(overdue) => {
                let deadline = overdue.deadline();
                let returned = async { Done::Event(overdue.returned().await) };
                self.in_progress.push(returned.boxed());
                Some(Event::HandlerTimeout(deadline))
            }
        }
    }

    fn step(&mut self, event: Event) {
        for effect in self.machine.step(event, self.context, now()) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        let context = self.context;
        match effect {
            Effect::Call(purpose, request) => {
                self.parent = Some(request.parent.clone());
                let called = call::call(context, purpose, request);
                self.in_progress.push(called.map(Done::from).boxed());
            }
            Effect::Send(id, request) => {
                let sent = context.requests().during(context.send(request));
                let answered = sent.map(move |answer| Done::Event(Event::Answered(id, answer)));
                self.in_progress.push(answered.boxed());
            }
            Effect::ReadSchema => {
                let read = context.schema();
                let read = read.map(|schema| Done::Event(Event::SchemaRead(schema)));
                self.in_progress.push(read.boxed());
            }
            Effect::Cache(cache) => context.cache(self.origin(&cache).as_ref(), cache),
            Effect::Reserve(allowance, deletions) => {
                let reserved = context.reserve(allowance, deletions);
                self.events.push_back(Event::Reserved(reserved));
            }
            Effect::Release(taken, deleted) => context.budget().give_back(taken, deleted),
            Effect::Resume => self.events.push_back(Event::Resumed),
            Effect::ShowNow(failure) => {
                if let Some(parent) = &self.parent {
                    context.show(parent, &failure);
                    let announced = self.machine.announced_mut();
                    context.announce_failure(parent, &failure, announced);
                }
            }
            Effect::Finished => self.is_finished = true,
        }
    }

    /// Whose write it was: before the handler is called it is about the parent itself.
    fn origin(&self, cache: &Cache) -> Option<Object> {
        match cache {
            Cache::Wrote(object) if self.parent.is_none() => Some(object.clone()),
            _ => self.parent.clone().or_else(|| self.machine.parent().cloned()),
        }
    }
}

impl<'a> From<call::Called<'a>> for Done<'a> {
    fn from(called: call::Called<'a>) -> Self {
        match called {
            call::Called::InTime(result) => Self::Event(Event::HandlerReturned(result)),
            call::Called::Overdue(overdue) => Self::Overdue(overdue),
        }
    }
}

/// What a machine left, as all who look at it need it.
fn concluded(context: &Context, ended: Ended, at: Now) -> Reconciled {
    let Ended { journal, mut memory, redactor, parent, times, preview: _ } = ended;
    let calms_in = memory.flapping().calms_in(Instant::now(), context.settings().calm());
    let is_there = |parent: &Object| context.parent(parent.key(), parent.uid());
    let leaves = parent.as_ref().and_then(is_there).is_none_or(|it| context.is_leaving(&it));
    let report = Report::of(journal.facts(), memory.standing(calms_in, leaves), &redactor);
    context.metrics().count(context.name(), journal.facts());
    if let Some(parent) = &parent {
        let mut announced = std::mem::take(memory.announced_mut());
        let teller = Teller {
            config: context.config(),
            parent,
            redactor: &redactor,
            standing: memory.standing(calms_in, leaves),
            is_paused: context.pauses(parent),
        };
        let news = teller.news(journal.facts(), &report, &mut announced);
        context.announce(parent, news, &mut announced);
        context.warn_once(parent, journal.facts());
        context.note_undeclared(journal.facts());
        announced.shrink();
        *memory.announced_mut() = announced;
    }
    Reconciled { steps: times, ..Reconciled::new(report, memory, at) }
}

/// Why a machine failed, with the words of others as they may be shown.
pub(super) fn concluded_failure(ended: &Ended) -> Option<Failure> {
    let standing = ended.memory.standing(None, false);
    let report = Report::of(ended.journal.facts(), standing, &ended.redactor);
    report.failure().cloned()
}

impl Reconciled {
    fn new(report: Report, memory: Memory, at: Now) -> Self {
        let (took, steps) = <_>::default();
        Self { report, memory, started: at.wall, began: at.monotonic, took, steps }
    }
}

impl Deref for Reconciled {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}
