//! Drives a machine: performs its effects, and returns the results as events.

use std::{
    collections::VecDeque,
    ops::Deref,
    panic::AssertUnwindSafe,
    time::{Duration, Instant, SystemTime},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use tracing::Span;

use super::{
    Context, call,
    clock::now,
    trace::{self, Spans},
};
use crate::{
    history::{Cause, StepTimes},
    journal::Failure,
    object::{Object, ObjectKey, Uid},
    plan::ChildId,
    report::{Announcer, Report},
    run::{Aim, Cache, Effect, Ended, Event, Job, Machine, Memory, Now},
    schedule::continues_at_once,
};

#[derive(Debug)]
pub(crate) struct Reconciled {
    pub(crate) report: Report,
    pub(crate) memory: Memory,
    pub(crate) started: SystemTime,
    /// The same on the monotonic clock: earlier changes were seen.
    pub(crate) began: Instant,
    /// How long it took, without the wait for a permit.
    pub(crate) took: Duration,
    pub(crate) steps: StepTimes,
    /// How long the pause of the parent still lasts, if it ends by itself.
    pub(crate) pause_ends_in: Option<Duration>,
}

/// Reconciles, and repeats at once on the replies after writes, as long as [`continues_at_once`] allows. The
/// caller holds a [`Permit`](super::Permit) until it returns; the last result holds the memory. The span is that
/// of the first. There is no result if another process works for the parent.
pub(crate) async fn reconcile_in_a_row(
    context: &Context,
    mut job: Job,
    mut span: Span,
) -> Vec<Reconciled> {
    let mut all = Vec::new();
    let Ok(_busy) = context.begin(&job.uid) else { return all };
    loop {
        let (key, uid, after_writes) = (job.key.clone(), job.uid.clone(), job.after_writes + 1);
        let mut reconciled = reconcile(context, job, span).await;
        let finished = reconciled.finished(context.config());
        let has_created = reconciled.has_created();
        let is_closed = context.gate().is_closed() || !context.works_for(&uid);
        let is_urgent = context.gate().is_urgent();
        if is_closed || !continues_at_once(finished, after_writes, is_urgent && !has_created) {
            all.push(reconciled);
            if !finished.has_failed() {
                context.labelling.succeeded(&uid);
            }
            return all;
        }
        let memory = std::mem::take(&mut reconciled.memory);
        all.push(reconciled);
        span = trace::reconcile(context, &key, &[Cause::OwnWrites]);
        job = Job { key, uid, after_writes, memory };
    }
}

/// Reconciles one parent. Never fails: errors are in the report.
pub(super) async fn reconcile(context: &Context, job: Job, span: Span) -> Reconciled {
    // Taken before anything is read: later changes may not be seen.
    let (at, metrics) = (now(), context.metrics());
    metrics.reconcile_started(context.name());
    let id = ChildId { ty: context.config().parent.clone(), key: job.key.clone() };
    let spans = Spans::of(&span);
    let running = async { Some(concluded(context, &id, driven(context, job, spans).await?, at)) };
    let ended = AssertUnwindSafe(running).catch_unwind().await.ok().flatten();
    let mut reconciled = ended.unwrap_or_else(|| {
        let operator = context.name();
        tracing::error!(%operator, parent = %id.key, "the reconcile panicked: a bug in Operetta");
        Reconciled::new(Report::internal_error(), Memory::default(), at)
    });
    let ended = now();
    reconciled.took = ended.monotonic.saturating_duration_since(at.monotonic);
    reconciled.pause_ends_in = reconciled.report.pause_ends_in(ended.wall);
    context.steps.took(reconciled.steps);
    let outcome = reconciled.outcome(context.config());
    let trace = metrics.trace(&span, now().wall);
    metrics.reconcile_finished(context.name(), &outcome, reconciled.took, trace);
    trace::ended(&span, &outcome);
    reconciled
}

/// Drives a machine to its end; `None` if it stops without an end, which is a bug.
async fn driven(context: &Context, job: Job, spans: Spans) -> Option<Ended> {
    let mut driver = Driver::new(context, job, Aim::Reconcile, spans);
    driver.drive().await;
    driver.ended().map(|(ended, _)| ended)
}

pub(super) struct Driver<'a> {
    context: &'a Context,
    key: ObjectKey,
    uid: Uid,
    /// The parent of the machine, from the call of the handler on.
    parent: Option<Object>,
    machine: Machine,
    events: VecDeque<Event>,
    in_progress: InProgress<'a>,
    is_finished: bool,
    spans: Spans,
}

pub(super) type InProgress<'a> = FuturesUnordered<BoxFuture<'a, Done<'a>>>;

pub(super) enum Done<'a> {
    Event(Event),
    TimedOut(call::TimedOutCall<'a>),
}

impl<'a> Driver<'a> {
    pub(super) fn new(context: &'a Context, job: Job, aim: Aim, spans: Spans) -> Self {
        Self {
            context,
            key: job.key.clone(),
            uid: job.uid.clone(),
            parent: None,
            machine: Machine::new(context.settings.clone(), job, now()),
            events: VecDeque::from([Event::Started(aim)]),
            in_progress: FuturesUnordered::new(),
            is_finished: false,
            spans,
        }
    }

    pub(super) async fn drive(&mut self) {
        while let Some(event) = self.next().await {
            self.step(event);
        }
    }

    /// The result of the machine, and a handler that has not returned; `None` if the machine has not ended.
    pub(super) fn ended(self) -> Option<(Ended, InProgress<'a>)> {
        self.is_finished.then(|| (self.machine.end(), self.in_progress))
    }

    async fn next(&mut self) -> Option<Event> {
        if self.is_finished {
            return None;
        }
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        match self.in_progress.next().await? {
            Done::Event(event) => Some(event),
            Done::TimedOut(call) => {
                let deadline = call.deadline;
                let returned = async { Done::Event(call.returned().await) };
                self.in_progress.push(returned.boxed());
                Some(Event::HandlerTimeout(deadline))
            }
        }
    }

    fn step(&mut self, event: Event) {
        self.spans.arrived(&event);
        let snapshot = self.context.snapshot(&self.key, &self.uid);
        let effects = self.machine.step(event, snapshot, now());
        let is_last = effects.iter().any(|effect| matches!(effect, Effect::Finished));
        self.spans.stepped(self.machine.laps(), is_last);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        let context = self.context;
        match effect {
            Effect::Call(method, request) => {
                self.parent = Some(request.parent.clone());
                let called = call::call(context, method, request);
                self.in_progress.push(called.map(Done::from).boxed());
            }
            Effect::Send(id, request) => {
                let span = self.spans.request(&request);
                let sent = context.parts.requests.during(context.send(self.uid.clone(), request));
                let answered = sent.map(move |answer| {
                    trace::answered(span, &answer);
                    Done::Event(Event::Answered(id, answer))
                });
                self.in_progress.push(answered.boxed());
            }
            Effect::ReadSchema(others) => {
                let read = context.schemas(others);
                let read = read.map(|schema| Done::Event(Event::SchemaRead(schema)));
                self.in_progress.push(read.boxed());
            }
            Effect::Ask(parent, asks) => context.parts.reads.ask(&parent, &asks),
            Effect::ReadRelated(asks) => {
                self.events.push_back(Event::RelatedRead(context.parts.reads.answer(&asks)));
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

    /// The origin of a change: before the handler call a write is one of the parent itself.
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
            call::Called::TimedOut(call) => Self::TimedOut(call),
        }
    }
}

fn concluded(context: &Context, id: &ChildId, ended: Ended, at: Now) -> Reconciled {
    let Ended { journal, mut memory, redactor, parent, times, preview: _ } = ended;
    let calms_in = memory.flapping().calms_in(now().monotonic, context.settings.calm());
    let is_there = |parent: &Object| context.parent(parent.key(), parent.uid());
    let leaves =
        parent.as_ref().and_then(is_there).is_none_or(|it| context.settings.is_leaving(&it));
    let report = Report::of(&journal, memory.view(calms_in, leaves), &redactor, Some(id));
    context.metrics().count(context.name(), journal.facts());
    if let Some(parent) = &parent {
        let mut announced = std::mem::take(memory.announced_mut());
        let alone = context.condition_names(parent).alone(parent);
        let events = Announcer {
            config: context.config(),
            parent: &alone,
            redactor: &redactor,
            memory: memory.view(calms_in, leaves),
            is_paused: context.pauses(parent),
        };
        let announcements = events.announcements(&report, &mut announced);
        context.announce(parent, announcements, &mut announced);
        context.warn_once(parent, &report);
        context.note_undeclared(&report.undeclared);
        announced.shrink();
        *memory.announced_mut() = announced;
    }
    Reconciled { steps: times, ..Reconciled::new(report, memory, at) }
}

pub(super) fn concluded_failure(ended: &Ended) -> Option<Failure> {
    let view = ended.memory.view(None, false);
    let report = Report::of(&ended.journal, view, &ended.redactor, None);
    report.failure().cloned()
}

impl Reconciled {
    fn new(report: Report, memory: Memory, at: Now) -> Self {
        let (took, steps, pause_ends_in) = <_>::default();
        Self { report, memory, started: at.wall, began: at.monotonic, took, steps, pause_ends_in }
    }
}

impl Deref for Reconciled {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}
