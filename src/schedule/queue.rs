//! Who runs next among the parents of one operator that wait for a free place.
//!
//! A plain value: it knows neither threads nor clocks. Each operator has a queue of its own, so
//! that one operator's waiting parents delay no other operator.
//!
//! - The most urgent priority goes first; within one, who has waited longest.
//! - Nobody starves: a priority that was passed over a number of times in a row has the next turn.

use std::collections::BTreeMap;

use super::Priority;

/// Entries that wait, ordered by priority and arrival.
#[derive(Debug)]
pub struct Queue<T> {
    lanes: [BTreeMap<u64, T>; Priority::ALL.len()],
    /// How often in a row each lane had somebody waiting while another one had its turn.
    passed_over: [u32; Priority::ALL.len()],
    arrivals: u64,
}

/// An entry's place in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    priority: Priority,
    arrival: u64,
}

/// So often in a row a priority may be passed over: when all are busy, each has at least about one
/// turn in twenty.
const PATIENCE: u32 = 15;

impl<T> Queue<T> {
    /// A queue in which nobody waits.
    pub fn new() -> Self {
        let lanes = Priority::ALL.map(|_| BTreeMap::new());
        Self { lanes, passed_over: Priority::ALL.map(|_| 0), arrivals: 0 }
    }

    /// Adds an entry behind all others of its priority.
    pub fn push(&mut self, priority: Priority, entry: T) -> Place {
        self.arrivals += 1;
        let place = Place { priority, arrival: self.arrivals };
        self.lanes[priority.lane()].insert(place.arrival, entry);
        place
    }

    /// Moves an entry to a more urgent priority, among whose entries it goes by its arrival. Its
    /// new place; the old one if it is as urgent already, or waits no longer.
    pub fn raise(&mut self, place: Place, to: Priority) -> Place {
        if place.priority <= to {
            return place;
        }
        let Some(entry) = self.remove(place) else { return place };
        self.lanes[to.lane()].insert(place.arrival, entry);
        Place { priority: to, ..place }
    }

    /// Takes out an entry that need not run any more; `None` if it waits no longer.
    pub fn remove(&mut self, place: Place) -> Option<T> {
        self.lanes[place.priority.lane()].remove(&place.arrival)
    }

    /// Takes out the entry whose turn it is.
    pub fn pop(&mut self) -> Option<(Priority, T)> {
        let priority = self.next_priority()?;
        let (_, entry) = self.lanes[priority.lane()].pop_first()?;
        for other in Priority::ALL {
            let waits = other != priority && !self.lanes[other.lane()].is_empty();
            let passed_over = &mut self.passed_over[other.lane()];
            *passed_over = if waits { *passed_over + 1 } else { 0 };
        }
        Some((priority, entry))
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(BTreeMap::is_empty)
    }

    /// How many entries of a priority wait.
    pub fn waiting(&self, priority: Priority) -> usize {
        self.lanes[priority.lane()].len()
    }

    /// The entry of a priority that has waited longest.
    pub fn oldest(&self, priority: Priority) -> Option<&T> {
        self.lanes[priority.lane()].first_key_value().map(|(_, entry)| entry)
    }

    fn next_priority(&self) -> Option<Priority> {
        let busy = || Priority::ALL.into_iter().filter(|priority| self.waiting(*priority) > 0);
        let is_out_of_patience =
            |priority: &Priority| self.passed_over[priority.lane()] >= PATIENCE;
        busy().find(is_out_of_patience).or_else(|| busy().next())
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
    fn the_urgent_go_first_and_equals_in_the_order_of_their_arrival() {
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
    fn who_becomes_urgent_overtakes_and_never_falls_back() {
        for (to, expected) in [(Deletion, "x a b"), (Change, "x a b"), (FollowUp, "a b x")] {
            let mut queue = Queue::new();
            let place = queue.push(FollowUp, "x");
            queue.push(Change, "a");
            queue.push(Change, "b");
            let raised = queue.raise(place, to);
            assert_eq!(queue.raise(raised, Background), raised);
            assert_eq!(order(&mut queue), expected, "{to:?}");
        }
    }

    #[test]
    fn who_left_is_neither_raised_nor_taken_out_again() {
        let mut queue = Queue::new();
        let place = queue.push(FollowUp, "x");
        assert_eq!(queue.remove(place), Some("x"));
        assert_eq!(queue.raise(place, Deletion), place);
        assert_eq!(queue.remove(place), None);
        assert!(queue.pop().is_none());
    }

    #[test]
    fn a_stream_of_urgent_entries_starves_nobody() {
        let rivals = [Deletion, Change, FollowUp];
        for streams in [&rivals[..1], &rivals[..2], &rivals] {
            let mut queue = Queue::new();
            queue.push(Background, "patient");
            let mut turns = 0;
            loop {
                for stream in streams {
                    queue.push(*stream, "urgent");
                }
                turns += 1;
                if queue.pop() == Some((Background, "patient")) {
                    break;
                }
                assert!(turns < 100, "starved by {streams:?}");
            }
            assert!(turns > PATIENCE, "{turns}: no advantage for the urgent");
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
