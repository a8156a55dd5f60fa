//! What a room answers: what is next, what has happened, and what the caches have to learn.

use std::borrow::Cow;

use super::{Cache, view::View};
use crate::{
    history::Verb,
    journal::{End, Fact, Held, Pause, PausedBy, RequestFailure, Wait},
    object::Object,
    plan::{ChildId, Step},
    reply::ApiError,
};

/// The answer of a room.
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

    /// The same before what is next by now.
    pub(super) fn before<M>(self, then: Turn<M>) -> Turn<M> {
        let Self { next: _, mut facts, mut cache } = self;
        facts.extend(then.facts);
        cache.extend(then.cache);
        Turn { next: then.next, facts, cache }
    }
}

// === facts that several rooms state ===

/// A request about a child failed.
pub(super) fn child_failed(child: &ChildId, error: ApiError) -> Fact {
    failed_with_hint(child, error, "")
}

/// The same, with what could be done about it.
pub(super) fn failed_with_hint(
    child: &ChildId,
    error: ApiError,
    hint: impl Into<Cow<'static, str>>,
) -> Fact {
    let mut failure = RequestFailure::new(child.to_string(), error);
    let hint = hint.into();
    if !hint.is_empty() {
        failure.hint = hint;
    }
    Fact::RequestFailed { child: Some(child.clone()), failure }
}

/// A request about something else than a child failed.
pub(super) fn step_failed(what: &str, error: ApiError) -> Fact {
    Fact::RequestFailed { child: None, failure: RequestFailure::new(what.to_owned(), error) }
}

/// A child that is desired is not written now.
pub(super) fn put_off(child: &ChildId, why: &'static str) -> Fact {
    Fact::Waits { child: child.clone(), why: Wait::Others(why), is_put_off: true }
}

/// Nothing can be done about a child now.
pub(super) fn waits(child: &ChildId, why: Wait) -> Fact {
    Fact::Waits { child: child.clone(), why, is_put_off: false }
}

/// What an object that is left alone means: one of which no watch tells is to be looked at again.
pub(super) fn left_alone(view: &View<'_>, live: Object) -> (Option<Fact>, Cache) {
    let is_unwatched = !view.settings.is_watched(&live);
    (is_unwatched.then_some(Fact::Unwatched), Cache::Saw(live))
}

/// What a pause means for a step that it holds.
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

// === what ends the writing before a plan is carried out ===

/// Why no further child is written. Asked before each write: a reconcile of thousands of children takes its
/// time, and the parent goes on with its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The parent is not what was planned for: another reconcile decides again.
    Outdated,
    /// It, or the operator, was paused.
    Paused(PausedBy),
    /// The server asked to be left alone for a while.
    Throttled,
}

impl StopReason {
    /// Why nothing more is to be written, if so.
    pub(super) fn now(view: &View<'_>) -> Option<Self> {
        if !view.progress.is_alive() || view.has_left() {
            return Some(Self::Outdated);
        }
        let paused = view.paused_meanwhile().map(Self::Paused);
        paused.or_else(|| view.progress.is_throttled().then_some(Self::Throttled))
    }

    /// Why a child is not written once more, if so. What was handed over for an adoption is not left
    /// half done, unless it would be adopted by a parent that has left.
    pub(super) fn before(view: &View<'_>, verb: Verb) -> Option<Self> {
        let stop = Self::now(view)?;
        (verb != Verb::Adopted || matches!(stop, Self::Outdated)).then_some(stop)
    }

    /// What is not done for it.
    pub(super) fn hold(self, step: &Step, view: &View<'_>) -> Vec<Fact> {
        self.hold_after(step, view.progress.held_writes(), view.progress.is_alive())
    }

    /// The same where it is known how many writes were held before.
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
