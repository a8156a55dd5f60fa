//! The order in which the parents of one operator get permits.
//!
//! A plain value without threads or clocks. Each operator has its own queue, so that its waiting parents
//! delay no other operator.
//!
//! - The most urgent priority goes first; within one, the longest wait.
//! - Nothing starves: a priority that was passed over a number of times in a row gets the next turn.

use std::collections::BTreeMap;

use super::Priority;

#[derive(Debug)]
pub(crate) struct Queue<T> {
    lanes: [BTreeMap<u64, T>; Priority::ALL.len()],
    /// How often in a row each waiting lane was passed over.
    passed_over: [u32; Priority::ALL.len()],
    arrivals: u64,
}

/// The position of an entry in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    priority: Priority,
    arrival: u64,
}

/// How often in a row a priority may be passed over: under full load each gets at least about one turn in
/// twenty.
const MAX_PASSED_OVER: u32 = 15;

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        let lanes = Priority::ALL.map(|_| BTreeMap::new());
        Self { lanes, passed_over: Priority::ALL.map(|_| 0), arrivals: 0 }
    }

    pub(crate) fn push(&mut self, priority: Priority, entry: T) -> Position {
        self.arrivals += 1;
        let position = Position { priority, arrival: self.arrivals };
        self.lanes[priority.lane()].insert(position.arrival, entry);
        position
    }

    /// Moves an entry to a more urgent priority, ordered by arrival. Returns its new position; the old one if
    /// it is as urgent already, or gone.
    pub(crate) fn raise(&mut self, position: Position, to: Priority) -> Position {
        if position.priority <= to {
            return position;
        }
        let Some(entry) = self.remove(position) else { return position };
        self.lanes[to.lane()].insert(position.arrival, entry);
        Position { priority: to, ..position }
    }

    pub(crate) fn remove(&mut self, position: Position) -> Option<T> {
        self.lanes[position.priority.lane()].remove(&position.arrival)
    }

    pub(crate) fn pop(&mut self) -> Option<(Priority, T)> {
        let priority = self.next_priority()?;
        let (_, entry) = self.lanes[priority.lane()].pop_first()?;
        for other in Priority::ALL {
            let waits = other != priority && !self.lanes[other.lane()].is_empty();
            let passed_over = &mut self.passed_over[other.lane()];
            *passed_over = if waits { *passed_over + 1 } else { 0 };
        }
        Some((priority, entry))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.iter().all(BTreeMap::is_empty)
    }

    pub(crate) fn waiting(&self, priority: Priority) -> usize {
        self.lanes[priority.lane()].len()
    }

    /// The entry of a priority that has waited longest.
    pub(crate) fn oldest(&self, priority: Priority) -> Option<&T> {
        self.lanes[priority.lane()].first_key_value().map(|(_, entry)| entry)
    }

    fn next_priority(&self) -> Option<Priority> {
        let busy = || Priority::ALL.into_iter().filter(|priority| self.waiting(*priority) > 0);
        let is_starving =
            |priority: &Priority| self.passed_over[priority.lane()] >= MAX_PASSED_OVER;
        busy().find(is_starving).or_else(|| busy().next())
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Priority::{Background, Change, Deletion, FollowUp};
    use super::*;

    fn order(queue: &mut Queue<&'static str>) -> String {
        let mut order = Vec::new();
        while let Some((_, entry)) = queue.pop() {
            order.push(entry);
        }
        order.join(" ")
    }

    fn queue(entries: &[(Priority, &'static str)]) -> Queue<&'static str> {
        let mut queue = Queue::new();
        for (priority, entry) in entries.iter().copied() {
            queue.push(priority, entry);
        }
        queue
    }

    #[test]
    fn urgent_entries_go_first_and_equal_ones_in_order_of_arrival() {
        for (entries, expected) in [
            (vec![], ""),
            (vec![(Change, "a"), (Change, "b"), (Change, "c")], "a b c"),
            (vec![(Background, "d"), (FollowUp, "c"), (Change, "b"), (Deletion, "a")], "a b c d"),
            (vec![(FollowUp, "c"), (Change, "a"), (FollowUp, "d"), (Change, "b")], "a b c d"),
        ] {
            assert_eq!(order(&mut queue(&entries)), expected, "{entries:?}");
        }
    }

    #[test]
    fn a_raised_entry_overtakes_and_is_never_lowered() {
        for (to, expected) in [(Deletion, "x a b"), (Change, "x a b"), (FollowUp, "a b x")] {
            let mut queue = Queue::new();
            let position = queue.push(FollowUp, "x");
            queue.push(Change, "a");
            queue.push(Change, "b");
            let raised = queue.raise(position, to);
            assert_eq!(queue.raise(raised, Background), raised);
            assert_eq!(order(&mut queue), expected, "{to:?}");
        }
    }

    #[test]
    fn a_removed_entry_is_neither_raised_nor_removed_again() {
        let mut queue = Queue::new();
        let position = queue.push(FollowUp, "x");
        assert_eq!(queue.remove(position), Some("x"));
        assert_eq!(queue.raise(position, Deletion), position);
        assert_eq!(queue.remove(position), None);
        assert!(queue.pop().is_none());
    }

    #[test]
    fn a_stream_of_urgent_entries_starves_no_other() {
        let rivals = [Deletion, Change, FollowUp];
        for streams in [&rivals[..1], &rivals[..2], &rivals] {
            let mut queue = Queue::new();
            queue.push(Background, "background");
            let mut turns = 0;
            loop {
                for stream in streams {
                    queue.push(*stream, "urgent");
                }
                turns += 1;
                if queue.pop() == Some((Background, "background")) {
                    break;
                }
                assert!(turns < 100, "starved by {streams:?}");
            }
            assert!(turns > MAX_PASSED_OVER, "{turns}: no advantage for the urgent");
        }
    }

    #[test]
    fn urgent_entries_keep_most_of_the_turns() {
        let mut queue = Queue::new();
        let mut taken = Vec::new();
        for _ in 0..1000 {
            for priority in Priority::ALL {
                queue.push(priority, "x");
            }
            taken.push(queue.pop().unwrap().0);
        }
        let turns = |of: Priority| taken.iter().filter(|taken| **taken == of).count();
        assert!(turns(Deletion) > 750, "{}", turns(Deletion));
        for other in [Change, FollowUp, Background] {
            assert!(turns(other) >= 50, "{other:?}: {}", turns(other));
        }
    }
}
