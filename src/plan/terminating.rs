//! Children that are being deleted for a long time, and when to read them live: the event of their
//! deletion may have been missed. Decides; does not read.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::object::{Object, Uid};

/// Longer than a Pod's default grace period (30 s), so that live reads are rare.
const READ_AFTER: Duration = Duration::from_mins(1);

/// Longer than most finalizers take.
const BLOCKED_AFTER: Duration = Duration::from_mins(2);

/// How many are read in one reconcile: a lost node has hundreds of terminating Pods.
const MAX_READS: usize = 16;

/// Times when children are known to be terminating.
#[derive(Debug, Clone, Default)]
pub(crate) struct TerminatingChildren(BTreeMap<Uid, Times>);

#[derive(Debug, Clone, Copy)]
struct Times {
    since: Instant,
    /// When it was last read live, at first when it was found.
    last_read: Instant,
}

impl TerminatingChildren {
    /// Records which children are terminating now. Returns those that have been for a minute, and
    /// again after each further minute; of many those that have waited longest.
    pub(crate) fn overdue(&mut self, terminating: Vec<Object>, now: Instant) -> Vec<Object> {
        let before = std::mem::take(&mut self.0);
        let mut overdue = Vec::new();
        for child in terminating {
            let begun = Times { since: now, last_read: now };
            let times = before.get(child.uid()).copied().unwrap_or(begun);
            self.0.insert(child.uid().clone(), times);
            if now.saturating_duration_since(times.last_read) >= READ_AFTER {
                overdue.push((times, child));
            }
        }
        overdue.sort_by_key(|(times, _)| times.last_read);
        overdue.truncate(MAX_READS);
        let mark_read = |(times, child): (Times, Object)| {
            self.0.insert(child.uid().clone(), Times { last_read: now, ..times });
            child
        };
        overdue.into_iter().map(mark_read).collect()
    }

    /// Whether a child has been terminating for so long that it may never be deleted, or waits for other
    /// objects.
    pub(crate) fn is_stuck(&self, uid: &Uid, now: Instant) -> bool {
        self.lasts(uid, now, READ_AFTER)
    }

    /// Whether a child has been terminating for so long that whoever has to remove its finalizers may not run.
    pub(crate) fn is_blocked(&self, uid: &Uid, now: Instant) -> bool {
        self.lasts(uid, now, BLOCKED_AFTER)
    }

    fn lasts(&self, uid: &Uid, now: Instant, time: Duration) -> bool {
        let times = self.0.get(uid);
        times.is_some_and(|it| now.saturating_duration_since(it.since) >= time)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn children(uids: &[&str]) -> Vec<Object> {
        let child = |uid: &&str| {
            let ty = K8sType::cluster_scoped("v1", "Thing", "things");
            let value = json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": "1"}});
            Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
        };
        uids.iter().map(child).collect()
    }

    #[test]
    fn of_many_children_those_that_have_waited_longest_are_read() {
        let (mut terminating, start) = (TerminatingChildren::default(), Instant::now());
        let names: Vec<_> = (0..20).map(|number| format!("{number:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut read = |second| {
            let now = start + Duration::from_secs(second);
            terminating.overdue(children(&names), now)
        };
        assert!(read(0).is_empty());
        assert_eq!(read(60), children(&names[..16]));
        assert_eq!(read(60), children(&names[16..]));
        assert!(read(119).is_empty());
        assert_eq!(read(120).len(), 16);
    }

    /// However often it is read.
    #[test]
    fn a_child_is_stuck_after_a_minute_until_it_is_deleted() {
        let (mut terminating, start) = (TerminatingChildren::default(), Instant::now());
        let uid = Uid::new("a");
        for (second, is_stuck) in [(0, false), (59, false), (60, true), (61, true), (150, true)] {
            let now = start + Duration::from_secs(second);
            terminating.overdue(children(&["a"]), now);
            assert_eq!(terminating.is_stuck(&uid, now), is_stuck, "after {second} s");
        }
        terminating.overdue(Vec::new(), start);
        assert!(!terminating.is_stuck(&uid, start + Duration::from_secs(200)));
    }

    #[test]
    fn a_child_that_terminates_for_longer_than_a_minute_is_read_once_a_minute() {
        let (mut terminating, start) = (TerminatingChildren::default(), Instant::now());
        for (second, uids, overdue) in [
            (0, vec!["a"], vec![]),
            (50, vec!["a", "b"], vec![]),
            (60, vec!["a", "b"], vec!["a"]),
            (119, vec!["a", "b"], vec!["b"]),
            (120, vec!["a", "b"], vec!["a"]),
            // Another object begins its own minute, and deleted ones take no memory.
            (200, vec!["c"], vec![]),
            (259, vec!["a", "c"], vec![]),
            (260, vec!["a", "c"], vec!["c"]),
            (400, vec![], vec![]),
        ] {
            let now = start + Duration::from_secs(second);
            let found = terminating.overdue(children(&uids), now);
            assert_eq!(found, children(&overdue), "after {second} s");
        }
        assert!(terminating.0.is_empty());
    }
}
