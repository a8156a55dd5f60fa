//! Selects and sorts parents of an operator. It remembers no more than twice as many as are wanted.

use std::{cmp::Ordering, ops::ControlFlow, time::SystemTime};

use super::{Board, OperatorSnapshot, ParentPhase, ParentState};
use crate::object::ObjectKey;

/// Where a parent is in an order: by its rank, then by its key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) rank: u64,
    pub(crate) key: ObjectKey,
}

/// Which of the selected parents are wanted: the first after a place, in the order of places or in the reverse.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    pub(crate) after: Option<Place>,
    pub(crate) limit: usize,
    pub(crate) is_reversed: bool,
}

/// A page of the selected parents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    pub(crate) items: Vec<(ObjectKey, ParentState)>,
    /// The place of the last of them.
    #[cfg_attr(not(any(test, feature = "dashboard")), expect(dead_code, reason = "for the page"))]
    pub(crate) last: Option<Place>,
    /// How many were selected on all pages.
    pub(crate) chosen: usize,
    #[cfg_attr(
        not(any(test, feature = "dashboard", feature = "mcp")),
        expect(dead_code, reason = "for the page and `mcp`")
    )]
    pub(crate) remaining: usize,
}

impl Window {
    pub(crate) fn first(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    fn order(&self, one: &Place, other: &Place) -> Ordering {
        if self.is_reversed { other.cmp(one) } else { one.cmp(other) }
    }

    /// Keeps the first places. It need not sort all of them, nor have the memory for that.
    fn cut(&self, places: &mut Vec<Place>) {
        if places.len() > self.limit {
            places.select_nth_unstable_by(self.limit, |one, other| self.order(one, other));
            places.truncate(self.limit);
        }
    }
}

impl Board {
    /// The parents of an operator that have a rank, as far as they are in the window; `None` if there is no such
    /// operator. The closure is called for every parent and must not call the board.
    pub(crate) fn select(
        &self,
        operator: &str,
        window: &Window,
        mut rank: impl FnMut(&ObjectKey, &ParentState) -> Option<u64>,
    ) -> Option<Selection> {
        let (mut places, mut chosen, mut following) = (Vec::new(), 0, 0);
        self.each_parent(operator, |key, state| {
            if let Some(rank) = rank(key, state) {
                let place = Place { rank, key: key.clone() };
                chosen += 1;
                if window.after.as_ref().is_none_or(|it| window.order(&place, it).is_gt()) {
                    following += 1;
                    places.push(place);
                    if places.len() / 2 > window.limit {
                        window.cut(&mut places);
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        window.cut(&mut places);
        places.sort_unstable_by(|one, other| window.order(one, other));
        let (last, remaining) = (places.last().cloned(), following - places.len());
        // One that is gone meanwhile is left out.
        let state = |Place { key, .. }| Some((self.parent(operator, &key)?, key));
        let items = places.into_iter().filter_map(state).map(|(state, key)| (key, state));
        Some(Selection { items: items.collect(), last, chosen, remaining })
    }

    /// Since when the operator, or the longest paused of its parents, is paused.
    pub(crate) fn oldest_pause(&self, operator: &str) -> Option<SystemTime> {
        let OperatorSnapshot { paused, parents, .. } = self.operator(operator)?;
        let mut oldest = paused.and_then(|pause| pause.since);
        let is_empty = |phase| parents.get(&phase).is_none_or(|count| *count == 0);
        // A paused parent is shown as running while its handler hangs. Most operators have no paused parent.
        if is_empty(ParentPhase::Paused) && is_empty(ParentPhase::Running) {
            return oldest;
        }
        self.each_parent(operator, |_, state| {
            let since = state.pause.as_ref().and_then(|pause| pause.since);
            oldest = oldest.into_iter().chain(since).min();
            ControlFlow::Continue(())
        });
        oldest
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::{
        board::OperatorInfo,
        object::{K8sType, Uid},
        operator::{OperatorConfig, OperatorName, Pause},
    };

    fn board(keys: &[&str]) -> Board {
        let config = OperatorConfig::new("a", K8sType::namespaced("v1", "Pod", "pods"));
        let (board, name) = (Board::new(), config.operator_name().unwrap());
        board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
        for key in keys {
            let phase = if key.ends_with('x') { ParentPhase::Failing } else { ParentPhase::Ready };
            let state = ParentState { phase, ..ParentState::pending(Uid::new(key), None) };
            board.record(&name, &key.parse().unwrap(), state);
        }
        board
    }

    /// The keys of each page of those that fail, and how many remain.
    fn pages(
        board: &Board,
        is_reversed: bool,
        rank: impl Fn(&ObjectKey) -> u64,
    ) -> Vec<(Vec<String>, usize)> {
        let failing = |key: &ObjectKey, state: &ParentState| {
            (state.phase == ParentPhase::Failing).then(|| rank(key))
        };
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let window = Window { after, limit: 2, is_reversed };
            let page = board.select("a", &window, failing).unwrap();
            assert_eq!(page.chosen, 4);
            let keys = page.items.iter().map(|(key, _)| key.to_string()).collect();
            pages.push((keys, page.remaining));
            after = page.last;
            if page.remaining == 0 {
                return pages;
            }
        }
    }

    #[test]
    fn selected_parents_come_in_pages_by_rank_and_key() {
        let board = board(&["a/1x", "a/2", "b/1x", "b/2x", "c/1", "c/2x"]);
        let page = |keys: [&str; 2], remaining| (keys.map(str::to_owned).to_vec(), remaining);
        let by_key = pages(&board, false, |_| 0);
        assert_eq!(by_key, [page(["a/1x", "b/1x"], 2), page(["b/2x", "c/2x"], 0)]);
        let reversed = pages(&board, true, |_| 0);
        assert_eq!(reversed, [page(["c/2x", "b/2x"], 2), page(["b/1x", "a/1x"], 0)]);
        let rank = |key: &ObjectKey| u64::from(&*key.name == "1x");
        let by_rank = pages(&board, false, rank);
        assert_eq!(by_rank, [page(["b/2x", "c/2x"], 2), page(["a/1x", "b/1x"], 0)]);
        assert!(board.select("nobody", &Window::first(1), |_, _| Some(0)).is_none());
    }

    #[test]
    fn the_first_of_many_are_found_in_any_order_of_their_keys() {
        let keys: Vec<String> = (0..500).map(|number| format!("ns/{number:03}")).collect();
        let board = board(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        for (limit, expected) in [(0, vec![]), (1, vec![499]), (3, vec![499, 498, 497])] {
            let rank = |key: &ObjectKey, _: &ParentState| Some(499 - key.name.parse::<u64>().ok()?);
            let found = board.select("a", &Window::first(limit), rank).unwrap();
            let names = found.items.iter().map(|(key, _)| key.name.parse::<usize>().unwrap());
            assert_eq!(names.collect::<Vec<_>>(), expected);
            assert_eq!((found.chosen, found.remaining), (500, 500 - limit));
        }
    }

    #[test]
    fn the_oldest_pause_is_that_of_a_parent_or_of_the_operator() {
        let (board, name) = (board(&["a/1", "a/2", "b/1"]), OperatorName::new("a").unwrap());
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let pause = |second| Arc::new(Pause { since: Some(at(second)), ..Pause::default() });
        assert_eq!(board.oldest_pause("a"), None);
        for (key, second) in [("a/2", 20), ("b/1", 10)] {
            board.update_parent(&name, &key.parse().unwrap(), &Uid::new(key), |state| {
                (state.phase, state.pause) = (ParentPhase::Paused, Some(pause(second)));
            });
        }
        assert_eq!(board.oldest_pause("a"), Some(at(10)));
        board.set_paused(&name, Some(pause(5)));
        assert_eq!(board.oldest_pause("a"), Some(at(5)));
        assert_eq!(board.oldest_pause("nobody"), None);
    }
}
