//! Repeated writes of a reconcile, their rival, and whether they are too frequent. [`Flapping`] decides what
//! is too frequent.

pub(super) mod rival;

use std::{collections::BTreeSet, time::Instant};

use super::module_view::View;
use crate::{
    history::Verb,
    journal::{Fact, Repeat},
    object::Object,
    operator::Children,
    plan::{
        ChildId, Flapping, FlappingReason, Plan, Rewrite, RewriteReason, Rewrites, Subject,
        rewrites,
    },
};

/// The steps of a plan that write again, compared with the state after the previous reconcile.
pub(super) fn foresee(view: &View<'_>, plan: &Plan, observed: &Children) -> Rewrites {
    let last_applied = view.memory.last_applied();
    let ours = |child: &Object| view.settings.is_ours(view.parent, child);
    let is_same_parent = view.rewrites.is_same_parent;
    let mut by_child = rewrites(plan, last_applied, observed, &ours, is_same_parent);
    for (id, rewrite) in &mut by_child {
        // Fields that others keep are no reason to write.
        let Some(contested) = last_applied.contested_of(id) else { continue };
        let is_ours = |path: &&String| !contested.holds(path);
        let ours: Vec<_> = rewrite.paths.iter().filter(is_ours).cloned().collect();
        if !ours.is_empty() {
            rewrite.paths = ours;
        }
    }
    Rewrites { is_same_parent, by_child }
}

/// Counts the repeated writes, and decides how long the parent waits for them.
pub(super) fn count(view: &View<'_>, is_replacing: bool) -> Vec<Fact> {
    let mut counting = Counting::new(view);
    let mut replaced = BTreeSet::new();
    for (id, (rewrite, verb)) in &view.progress.rewritten {
        if *verb == Verb::Deleted && is_replaced(id, rewrite, view) {
            replaced.insert(id.ty.clone());
        } else if rewrite.to.is_some() || *verb == Verb::Created {
            let (subject, why) = (Subject::Child(id.clone()), rewrite.why.into());
            counting.again(subject, why, rewrite.paths.clone(), rewrite.changed_by.clone());
        }
        // Otherwise it existed, and was only claimed again.
    }
    for ty in replaced {
        let (subject, why) = (Subject::Children(ty), FlappingReason::UnstableHandler);
        counting.again(subject, why, Vec::new(), None);
    }
    let slowed = counting.slowed.max(view.progress.slowed);
    let mut facts = counting.facts;
    facts.extend(wait_for_return(view, is_replacing, slowed));
    facts
}

/// Whether the handler replaced a child by another name of the same type, for an unchanged request: the name
/// is useless for counting.
fn is_replaced(id: &ChildId, rewrite: &Rewrite, view: &View<'_>) -> bool {
    rewrite.why == RewriteReason::OtherAnswer
        && rewrite.paths.is_empty()
        && view.progress.created.contains(&id.ty)
}

/// A deleted child is created again before its parent waits: the wait is deferred until then. Only once in a
/// row: a child that needs deleting again at once was recreated by someone else.
fn wait_for_return(view: &View<'_>, is_replacing: bool, slowed: Option<u32>) -> Option<Fact> {
    let deferred = view.memory.deferred_wait();
    let is_refused = view.progress.has_failed_for_now();
    let is_still_missing = deferred.is_some() && (is_replacing || is_refused);
    let is_missing = match view.progress.recreated {
        0 => slowed.is_none() && is_still_missing,
        _ => deferred.is_none(),
    };
    let times = slowed.max(deferred).unwrap_or_default();
    let fact = if is_missing {
        Fact::Slowed { now: None, deferred: Some(times) }
    } else {
        Fact::Slowed { now: (times > 0).then_some(times), deferred: None }
    };
    let is_news = is_missing || deferred.is_some() || slowed.is_some();
    is_news.then_some(fact)
}

/// Counts repeated writes of several subjects. A later subject sees the counts of the earlier ones.
struct Counting {
    flapping: Flapping,
    now: Instant,
    facts: Vec<Fact>,
    slowed: Option<u32>,
}

impl Counting {
    fn new(view: &View<'_>) -> Self {
        let flapping = view.memory.flapping().clone();
        Self { flapping, now: view.now.monotonic, facts: Vec::new(), slowed: None }
    }

    fn again(
        &mut self,
        subject: Subject,
        why: FlappingReason,
        paths: Vec<String>,
        changed_by: Option<String>,
    ) {
        let times = self.flapping.again(&subject, why, &paths, self.now);
        self.slowed = self.slowed.max((times > 0).then_some(times));
        self.facts.push(Fact::Repeated(Repeat { subject, why, paths, changed_by, times }));
    }
}

// === the status ===

/// Counts a status write that reverts a change by someone else.
pub(super) fn status_again(view: &View<'_>, paths: &[String]) -> Vec<Fact> {
    let mut counting = Counting::new(view);
    let why = FlappingReason::FightingOverStatus;
    counting.again(Subject::Status, why, paths.to_vec(), None);
    counting.facts
}

// === the decoration ===

const DECORATION: (&Subject, FlappingReason) =
    (&Subject::Decoration, FlappingReason::FightingOverFields);

/// The count of too frequent applies on the parent, while the next one is delayed because someone reverts
/// it.
pub(super) fn decoration_delayed(view: &View<'_>) -> Option<u32> {
    let backoff = view.settings.policy().backoff;
    let rest = |times| backoff.delay(times, 0) / 2;
    view.memory.flapping().rests(DECORATION, view.now.monotonic, rest)
}

/// An apply on the parent, which counts if the same was there before.
pub(super) fn decorated_again(view: &View<'_>, wanted: u64, paths: &[String]) -> Vec<Fact> {
    if view.memory.decorated() != Some(wanted) {
        return Vec::new();
    }
    let mut counting = Counting::new(view);
    let changed_by = view.parent.changed_by().map(str::to_owned);
    counting.again(DECORATION.0.clone(), DECORATION.1, paths.to_vec(), changed_by);
    counting.facts
}

// === the finalizers ===

const FINALIZERS: (&Subject, FlappingReason) =
    (&Subject::Finalizers, FlappingReason::FightingOverFinalizer);

/// The count of too frequent finalizer changes, while the next one is delayed because someone reverts it. The
/// delay is half of that of a slowed reconcile: the next reconcile finds the delay over.
pub(super) fn finalizers_delayed(view: &View<'_>) -> Option<u32> {
    let backoff = view.settings.policy().backoff;
    let rest = |times| backoff.delay(times, 0) / 2;
    view.memory.flapping().rests(FINALIZERS, view.now.monotonic, rest)
}

/// A change of the finalizers, which counts if it is not the first of the process.
pub(super) fn finalizers_changed(view: &View<'_>) -> Vec<Fact> {
    let mut facts = vec![Fact::FinalizersChanged];
    if view.memory.changed_finalizers {
        let mut counting = Counting::new(view);
        counting.flapping.forget_before(view.now.monotonic, view.settings.calm());
        let path = vec![".metadata.finalizers".to_owned()];
        counting.again(FINALIZERS.0.clone(), FINALIZERS.1, path, None);
        facts.extend(counting.facts);
    }
    facts
}
