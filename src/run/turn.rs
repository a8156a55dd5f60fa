//! The result of a module: the next step, facts, and changes of the caches.

use std::borrow::Cow;

use super::{Cache, Request, module_view::View};
use crate::{
    history::Verb,
    journal::{End, Fact, Held, Pause, PausedBy, RequestFailure, Wait},
    object::Object,
    plan::{ChildId, Step},
    reply::ApiError,
};

/// The next step of a module.
#[derive(Debug)]
pub(super) enum Next<A, D> {
    /// Send a request, for whose answer this waits.
    Ask(Request, A),
    Done(D),
}

#[derive(Debug)]
#[must_use]
pub(super) struct Turn<N> {
    pub(super) next: N,
    pub(super) facts: Vec<Fact>,
    pub(super) cache: Vec<Cache>,
}

impl<N> Turn<N> {
    pub(super) fn new(next: N) -> Self {
        Self { next, facts: Vec::new(), cache: Vec::new() }
    }

    /// With one more fact.
    pub(super) fn note(mut self, fact: Fact) -> Self {
        self.facts.push(fact);
        self
    }

    pub(super) fn cache(mut self, cache: impl IntoIterator<Item = Cache>) -> Self {
        self.cache.extend(cache);
        self
    }

    /// These facts and cache changes before those of `then`.
    pub(super) fn before<M>(self, then: Turn<M>) -> Turn<M> {
        let Self { next: _, mut facts, mut cache } = self;
        facts.extend(then.facts);
        cache.extend(then.cache);
        Turn { next: then.next, facts, cache }
    }
}

// === facts of several modules ===

pub(super) fn child_failed(child: &ChildId, error: ApiError) -> Fact {
    failed_with_hint(child, error, "")
}

/// The same, with advice.
pub(super) fn failed_with_hint(
    child: &ChildId,
    error: ApiError,
    hint: impl Into<Cow<'static, str>>,
) -> Fact {
    let about = Some(child.clone());
    let mut failure = RequestFailure { about, ..RequestFailure::new(child.to_string(), error) };
    let hint = hint.into();
    if !hint.is_empty() {
        failure.hint = hint;
    }
    Fact::RequestFailed { child: Some(child.clone()), failure }
}

pub(super) fn step_failed(what: &str, error: ApiError) -> Fact {
    Fact::RequestFailed { child: None, failure: RequestFailure::new(what.to_owned(), error) }
}

/// A step of the parent itself waits for the end of a pause.
pub(super) fn waits_for_the_end(by: PausedBy, what: &str) -> Fact {
    Fact::ParentWaits(format!("its {what} waits until the {} is no longer paused", by.name()))
}

/// The write of a desired child is delayed.
pub(super) fn put_off(child: &ChildId, why: &'static str) -> Fact {
    Fact::Waits { child: child.clone(), why: Wait::Others(why), is_put_off: true }
}

pub(super) fn waits(child: &ChildId, why: Wait) -> Fact {
    Fact::Waits { child: child.clone(), why, is_put_off: false }
}

/// The fact and the cache change for an object that is not modified. One that no watch covers is read again
/// later.
pub(super) fn not_modified(view: &View<'_>, live: Object) -> (Option<Fact>, Cache) {
    let is_unwatched = !view.settings.is_watched(&live);
    (is_unwatched.then_some(Fact::Unwatched), Cache::Saw(live))
}

pub(super) fn held_step(step: &Step, by: PausedBy, held_before: usize) -> [Fact; 2] {
    let (child, what) = match step {
        Step::Create(write) => (&write.id, "creation"),
        Step::Update(write) => (&write.id, "change"),
        Step::Delete(deletion) => (&deletion.id, "deletion"),
    };
    let (child, why) = (child.clone(), Wait::Paused { what, by });
    let pause = Pause { by, held: Held::Writes(held_before + 1) };
    [Fact::Waits { child, why, is_put_off: false }, Fact::Paused(pause)]
}

// === stopping a plan early ===

/// Why no further child is written. Checked before each write: thousands of children take time, and the
/// parent may change meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The parent has changed: another reconcile decides again.
    Outdated,
    /// The parent or the operator was paused.
    Paused(PausedBy),
    Throttled,
}

impl StopReason {
    pub(super) fn now(view: &View<'_>) -> Option<Self> {
        if !view.progress.is_alive() || view.has_left() {
            return Some(Self::Outdated);
        }
        let paused = view.paused_meanwhile().map(Self::Paused);
        paused.or_else(|| view.progress.is_throttled.then_some(Self::Throttled))
    }

    /// The reason to stop before another write. An adoption that was handed over is completed, unless the
    /// parent has left.
    pub(super) fn before(view: &View<'_>, verb: Verb) -> Option<Self> {
        let stop = Self::now(view)?;
        (verb != Verb::Adopted || matches!(stop, Self::Outdated)).then_some(stop)
    }

    /// The facts for a step that is not carried out.
    pub(super) fn hold(self, step: &Step, view: &View<'_>) -> Vec<Fact> {
        self.hold_after(step, view.progress.held_writes(), view.progress.is_alive())
    }

    /// The same, with the number of writes held before.
    pub(crate) fn hold_after(self, step: &Step, held: usize, is_alive: bool) -> Vec<Fact> {
        let is_put_off = !matches!(step, Step::Delete(_));
        let mut facts: Vec<Fact> = match self {
            Self::Outdated => is_alive.then_some(Fact::Parent(End::Outdated)).into_iter().collect(),
            Self::Paused(by) => held_step(step, by, held).into(),
            Self::Throttled => vec![waits(step.id(), Wait::Throttled)],
        };
        if let Some(Fact::Waits { is_put_off: is_it, .. }) = facts.first_mut() {
            *is_it = is_put_off;
        }
        facts
    }
}
