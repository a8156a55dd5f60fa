//! What a broad watch of related objects has not fetched yet. Pure.

use std::{collections::HashSet, mem};

use crate::operator::Ask;

/// What a broad watch has not fetched yet.
#[derive(Debug, Default)]
pub(super) struct Fetching {
    /// What the first list contains, and was asked for all the time since its watch began.
    at_first: HashSet<Ask>,
    pub(super) queue: Vec<Ask>,
    /// The asks since the last list. The next list may have begun before an ask, whose objects are then
    /// fetched again.
    since_list: HashSet<Ask>,
    pub(super) is_running: bool,
    pub(super) failures: u32,
    /// Why it fails for longer.
    pub(super) problem: Option<String>,
}

impl Fetching {
    pub(super) fn new(at_first: Vec<Ask>) -> Self {
        Self { at_first: at_first.into_iter().collect(), ..Self::default() }
    }

    pub(super) fn add(&mut self, ask: Ask) {
        self.since_list.insert(ask.clone());
        self.queue.push(ask);
    }

    pub(super) fn drop_ask(&mut self, ask: &Ask) {
        self.since_list.remove(ask);
        self.at_first.remove(ask);
    }

    /// A list is complete. Returns the asks that it answers.
    pub(super) fn listed(&mut self, is_first: bool) -> Vec<Ask> {
        let since_list = mem::take(&mut self.since_list);
        if is_first {
            return mem::take(&mut self.at_first).into_iter().collect();
        }
        self.queue.extend(since_list);
        Vec::new()
    }

    /// The last fetch succeeded, or nobody asks any more.
    pub(super) fn is_well(&mut self) {
        (self.failures, self.problem) = (0, None);
    }

    pub(super) fn take(&mut self) -> Vec<Ask> {
        let mut asks = mem::take(&mut self.queue);
        asks.sort_unstable();
        asks.dedup();
        asks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectKey;

    fn named(name: &str) -> Ask {
        Ask::Named(ObjectKey::namespaced("ns", name))
    }

    #[test]
    fn what_was_asked_for_while_a_list_may_have_been_in_progress_is_fetched_again() {
        let mut fetching = Fetching::new(vec![named("first")]);
        fetching.add(named("meanwhile"));
        assert_eq!(fetching.listed(true), [named("first")]);
        assert_eq!(fetching.take(), [named("meanwhile")]);
        fetching.add(named("later"));
        fetching.add(named("dropped"));
        assert_eq!(fetching.take(), [named("dropped"), named("later")]);
        fetching.drop_ask(&named("dropped"));
        assert!(fetching.listed(false).is_empty());
        assert_eq!(fetching.take(), [named("later")]);
        assert!(fetching.listed(false).is_empty() && fetching.take().is_empty());
    }

    /// The first list may have begun in between, and then it does not contain the object.
    #[test]
    fn what_was_dropped_and_asked_for_again_before_the_first_list_is_fetched() {
        let mut fetching = Fetching::new(vec![named("kept"), named("again")]);
        fetching.drop_ask(&named("again"));
        fetching.add(named("again"));
        assert_eq!(fetching.listed(true), [named("kept")]);
        assert_eq!(fetching.take(), [named("again")]);
    }
}
