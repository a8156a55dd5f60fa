//! Finds children that terminate slowly, to read them live: a missed watch event is noticed.

use crate::{
    journal::Fact,
    object::{Object, Uid},
    plan::{ChildId, TerminatingChildren, WaitingChild, WaitingReason},
    run::{effect::Cache, module_view::View},
};

/// The terminating children that should be gone by now, and since when each terminates. `replacing` are
/// desired children that are terminating.
pub(in crate::run) fn overdue(
    view: &View<'_>,
    waiting: &[WaitingChild],
    replacing: &[Uid],
) -> (Vec<Object>, Option<Fact>) {
    let ending = waiting.iter().filter(|waiting| waiting.why.is_deleting());
    let ending: Vec<_> = ending.filter_map(|it| view.snapshot.cached(&it.id)).collect();
    let mut terminating: TerminatingChildren = view.memory.terminating().clone();
    let is_one = !ending.is_empty() || !terminating.is_empty() || !replacing.is_empty();
    if !is_one {
        return (Vec::new(), None);
    }
    let now = view.now.monotonic;
    let overdue = terminating.overdue(ending, now);
    let expected = replacing.iter().filter(|uid| !terminating.is_stuck(uid, now)).count();
    let is_blocked = |it: &&WaitingChild| {
        let child = view.snapshot.cached(&it.id);
        is_held(&it.why) && child.is_some_and(|it| terminating.is_blocked(it.uid(), now))
    };
    let blocked = waiting.iter().filter(is_blocked).map(|it| it.id.clone()).collect();
    (overdue, Some(Fact::TerminatingChildren { terminating, expected, blocked }))
}

/// Whether somebody has to remove a finalizer. Those without a domain are of Kubernetes itself.
fn is_held(why: &WaitingReason) -> bool {
    matches!(why, WaitingReason::Deleting { finalizers } if finalizers.iter().any(|it| it.contains('/')))
}

/// The changes of the cache, which also wake the own parent.
pub(in crate::run) fn seen(child: &Object, live: Option<Object>) -> Vec<Cache> {
    let is_it = live.as_ref().is_some_and(|live| live.uid() == child.uid());
    let absent = (!is_it).then(|| Cache::Absent(ChildId::of(child), child.uid().clone()));
    absent.into_iter().chain(live.map(Cache::Saw)).collect()
}
