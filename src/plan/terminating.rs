//! Children that take their time to go, and when to look at them live: the event that tells of their
//! end may never come. Decides; does not look.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::object::{Object, Uid};

/// Longer than a Pod has by default to end (30 s), so that a look is rare.
const LOOK_AFTER: Duration = Duration::from_mins(1);

/// So many are looked at in one reconcile: a node that is lost has hundreds of Pods ending.
const MOST_LOOKS: usize = 16;

/// Since when children are known to be ending.
#[derive(Debug, Clone, Default)]
pub struct TerminatingChildren(BTreeMap<Uid, Ending>);

#[derive(Debug, Clone, Copy)]
struct Ending {
    since: Instant,
    /// When it was last looked at; it need not be before it has had its time.
    looked: Instant,
}

impl TerminatingChildren {
    /// Takes in which children are ending by now. Those come back that have been for a minute, and
    /// again after each further one; of many those that have waited longest.
    pub fn overdue(&mut self, ending: Vec<Object>, now: Instant) -> Vec<Object> {
        let before = std::mem::take(&mut self.0);
        let mut overdue = Vec::new();
        for child in ending {
            let begun = Ending { since: now, looked: now };
            let ending = before.get(child.uid()).copied().unwrap_or(begun);
            self.0.insert(child.uid().clone(), ending);
            if now.saturating_duration_since(ending.looked) >= LOOK_AFTER {
                overdue.push((ending, child));
            }
        }
        overdue.sort_by_key(|(ending, _)| ending.looked);
        overdue.truncate(MOST_LOOKS);
        let looked_at = |(ending, child): (Ending, Object)| {
            self.0.insert(child.uid().clone(), Ending { looked: now, ..ending });
            child
        };
        overdue.into_iter().map(looked_at).collect()
    }

    /// Whether a child has been ending for so long that it may never go, or wait for others.
    pub fn is_stuck(&self, uid: &Uid, now: Instant) -> bool {
        let ending = self.0.get(uid);
        ending.is_some_and(|it| now.saturating_duration_since(it.since) >= LOOK_AFTER)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As if all of it were so much longer ago.
    #[cfg(test)]
    pub(crate) fn age(&mut self, by: Duration) {
        for ending in self.0.values_mut() {
            ending.since -= by;
            ending.looked -= by;
        }
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
    fn of_many_children_those_are_looked_at_that_have_waited_longest() {
        let (mut terminating, start) = (TerminatingChildren::default(), Instant::now());
        let names: Vec<_> = (0..20).map(|number| format!("{number:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut look = |second| {
            let now = start + Duration::from_secs(second);
            terminating.overdue(children(&names), now)
        };
        assert!(look(0).is_empty());
        assert_eq!(look(60), children(&names[..16]));
        assert_eq!(look(60), children(&names[16..]));
        assert!(look(119).is_empty());
        assert_eq!(look(120).len(), 16);
    }

    /// However often it is looked at.
    #[test]
    fn a_child_is_stuck_from_the_minute_on_until_it_goes() {
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
    fn a_child_that_takes_longer_than_a_minute_to_go_is_looked_at_once_a_minute() {
        let (mut terminating, start) = (TerminatingChildren::default(), Instant::now());
        for (second, ending, overdue) in [
            (0, vec!["a"], vec![]),
            (50, vec!["a", "b"], vec![]),
            (60, vec!["a", "b"], vec!["a"]),
            (119, vec!["a", "b"], vec!["b"]),
            (120, vec!["a", "b"], vec!["a"]),
            // Another object is waited for anew, and what is forgotten takes no memory.
            (200, vec!["c"], vec![]),
            (259, vec!["a", "c"], vec![]),
            (260, vec!["a", "c"], vec!["c"]),
            (400, vec![], vec![]),
        ] {
            let now = start + Duration::from_secs(second);
            let found = terminating.overdue(children(&ending), now);
            assert_eq!(found, children(&overdue), "after {second} s");
        }
        assert!(terminating.0.is_empty());
    }
}
