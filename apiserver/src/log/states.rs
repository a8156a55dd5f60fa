//! The newest states of a resource, in the order of their keys.
//!
//! ```text
//!  runs: [a..f] [g..k] [l..z]     a run: at most 256 neighbours, in one piece of memory
//! ```
//!
//! - A copy shares all runs. A write copies the run that it changes, if a copy still has it.
//! - The number of states behind a key is the sum of the lengths of runs: pages show it, and it must not take a walk over
//!   all states.

use std::sync::Arc;

use super::{Object, ObjectKey};

/// The number of states in a run at most: an insertion moves half of them.
const LONGEST: usize = 256;

/// An object with its key.
pub(crate) type Entry = (ObjectKey, Arc<Object>);

/// The newest states of a resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct States {
    /// In order; none is empty.
    runs: Vec<Arc<Vec<Entry>>>,
    len: usize,
}

impl States {
    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The state of a key.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        let (run, at) = self.find(key);
        let at = at.ok()?;
        Some(&self.runs[run][at].1)
    }

    /// Sets the state of a key, and returns the one before.
    pub(crate) fn insert(&mut self, key: ObjectKey, object: Arc<Object>) -> Option<Arc<Object>> {
        let (run, at) = self.find(&key);
        match at {
            Ok(at) => {
                let entry = &mut Arc::make_mut(&mut self.runs[run])[at];
                Some(std::mem::replace(&mut entry.1, object))
            }
            Err(at) => {
                self.insert_at(run, at, (key, object));
                self.len += 1;
                None
            }
        }
    }

    fn insert_at(&mut self, run: usize, at: usize, entry: Entry) {
        let is_full = self.runs.get(run).is_none_or(|run| run.len() == LONGEST);
        let is_behind = self.runs.get(run).is_none_or(|run| run.len() == at);
        if !is_full {
            Arc::make_mut(&mut self.runs[run]).insert(at, entry);
        } else if is_behind {
            // Keys that come in order leave full runs behind.
            self.runs.insert(self.runs.len().min(run + 1), Arc::new(vec![entry]));
        } else {
            let later = Arc::make_mut(&mut self.runs[run]).split_off(LONGEST / 2);
            self.runs.insert(run + 1, Arc::new(later));
            let half = at / (LONGEST / 2 + 1);
            self.insert_at(run + half, at - half * (LONGEST / 2), entry);
        }
    }

    /// Removes the state of a key, and returns it.
    pub(crate) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let (place, at) = self.find(key);
        let at = at.ok()?;
        let run = Arc::make_mut(&mut self.runs[place]);
        let (_, object) = run.remove(at);
        run.shrink_to(run.len() * 4);
        if run.is_empty() {
            self.runs.remove(place);
        }
        self.len -= 1;
        Some(object)
    }

    /// The same key, in the memory of one that is here.
    pub(crate) fn share(&self, key: ObjectKey) -> ObjectKey {
        let (run, at) = self.find(&key);
        let Some(run) = self.runs.get(run) else { return key };
        match at {
            Ok(at) => run[at].0.clone(),
            Err(at) => {
                let neighbours = run[at.saturating_sub(1)..].iter().take(2);
                let mut namespaces = neighbours.map(|(key, _)| &key.namespace);
                match namespaces.find(|it| **it == key.namespace) {
                    Some(namespace) => ObjectKey { namespace: Arc::clone(namespace), ..key },
                    None => key,
                }
            }
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.runs.iter().flat_map(|run| run.iter())
    }

    /// Those whose keys are greater.
    pub(super) fn after(&self, key: &ObjectKey) -> impl Iterator<Item = &Entry> + use<'_> {
        let (run, at) = self.find(key);
        let at = at.map_or_else(|at| at, |at| at + 1);
        let (first, later) = match self.runs.get(run..) {
            Some([first, later @ ..]) => (&first[at..], later),
            _ => (&[][..], &[][..]),
        };
        first.iter().chain(later.iter().flat_map(|run| run.iter()))
    }

    /// The number of those whose keys are not greater.
    pub(super) fn count_to(&self, key: &ObjectKey) -> usize {
        let (run, at) = self.find(key);
        let before: usize = self.runs.iter().take(run).map(|run| run.len()).sum();
        before + at.map_or_else(|at| at, |at| at + 1)
    }

    /// The run that has a key or would have it, and the place in it.
    fn find(&self, key: &ObjectKey) -> (usize, Result<usize, usize>) {
        let run = self.runs.partition_point(|run| run[0].0 <= *key).saturating_sub(1);
        let at = self.runs.get(run).map_or(Err(0), |run| run.binary_search_by(|it| it.0.cmp(key)));
        (run, at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{super::object::Event, *};

    /// Numbers without an order, the same in each run.
    struct Numbers(usize);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % limit
        }
    }

    fn key(number: usize) -> ObjectKey {
        ObjectKey::new(format!("ns-{}", number % 3), format!("name-{number:05}"))
    }

    fn object(number: usize) -> Arc<Object> {
        let value = json!({"metadata": {"uid": number.to_string()}});
        Arc::new(Object::encode(Event::Added, &value, 0))
    }

    fn uid(object: &Arc<Object>) -> String {
        object.meta.uid.to_string()
    }

    fn uids<'a>(states: impl IntoIterator<Item = &'a Entry>) -> Vec<(ObjectKey, String)> {
        states.into_iter().map(|(key, object)| (key.clone(), uid(object))).collect()
    }

    #[test]
    fn they_are_those_of_a_map() {
        let (mut states, mut map) = (States::default(), BTreeMap::new());
        let mut numbers = Numbers(1);
        for step in 0..20_000 {
            // It grows, then shrinks.
            let (key, object) = (key(numbers.below(4_000)), object(step));
            if numbers.below(10) < if step < 10_000 { 8 } else { 3 } {
                let before = map.insert(key.clone(), uid(&object));
                assert_eq!(states.insert(key, object).as_ref().map(uid), before);
            } else {
                assert_eq!(states.remove(&key).as_ref().map(uid), map.remove(&key));
            }
            assert_eq!(states.len(), map.len());
            if step % 500 == 0 {
                let all: Vec<_> = map.clone().into_iter().collect();
                assert_eq!(uids(states.iter()), all);
                assert!(states.runs.iter().all(|it| (1..=LONGEST).contains(&it.len())));
            }
        }
    }

    #[test]
    fn those_after_a_key_are_found_and_counted() {
        let mut states = States::default();
        assert_eq!((states.after(&key(1)).count(), states.count_to(&key(1))), (0, 0));
        for number in (0..3_000).step_by(2) {
            states.insert(key(number), object(number));
        }
        for number in (0..3_001).step_by(7) {
            let later = states.iter().filter(|(found, _)| *found > key(number)).count();
            assert_eq!(states.after(&key(number)).count(), later, "{number}");
            assert_eq!(states.count_to(&key(number)) + later, states.len(), "{number}");
        }
    }

    #[test]
    fn a_copy_stays_as_it_was() {
        let mut states = States::default();
        (0..1_000).for_each(|number| drop(states.insert(key(number), object(number))));
        let (copy, before) = (states.clone(), uids(states.iter()));
        (0..1_000).step_by(3).for_each(|number| drop(states.remove(&key(number))));
        (0..2_000).step_by(7).for_each(|number| drop(states.insert(key(number), object(1))));
        assert_eq!(uids(copy.iter()), before);
    }

    #[test]
    fn keys_in_order_leave_full_runs() {
        let mut states = States::default();
        for number in 0..LONGEST * 4 {
            states.insert(ObjectKey::new("ns", format!("{number:05}")), object(number));
        }
        assert_eq!(states.runs.len(), 4);
    }

    #[test]
    fn neighbours_share_their_namespace() {
        let mut states = States::default();
        for name in ["b", "a", "c", "b"] {
            states.insert(states.share(ObjectKey::new("ns", name)), object(1));
        }
        let all: Vec<_> = states.iter().map(|(key, _)| Arc::as_ptr(&key.namespace)).collect();
        assert!(all.len() == 3 && all.iter().all(|it| std::ptr::addr_eq(*it, all[0])));
        let other = ObjectKey::new("other", "b");
        assert_eq!(states.share(other.clone()), other);
    }
}
