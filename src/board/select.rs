//! Selects parents of an operator with a predicate.

use std::{ops::ControlFlow, time::SystemTime};

use super::{Board, OperatorSnapshot, ParentPhase, ParentState};
use crate::object::ObjectKey;

/// A page of the selected parents, by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    pub(crate) items: Vec<(ObjectKey, ParentState)>,
    /// How many were selected on all pages.
    pub(crate) chosen: usize,
    pub(crate) remaining: usize,
}

impl Board {
    /// The parents of an operator that match, after a key; `None` if there is no such operator. The
    /// closure is called for every parent and must not call the board.
    pub(crate) fn select(
        &self,
        operator: &str,
        after: Option<&ObjectKey>,
        limit: usize,
        is_wanted: impl Fn(&ObjectKey, &ParentState) -> bool,
    ) -> Option<Selection> {
        let mut selection = Selection::default();
        self.each_parent(operator, |key, state| {
            if is_wanted(key, state) {
                selection.chosen += 1;
                if after.is_none_or(|after| key > after) {
                    if selection.items.len() < limit {
                        selection.items.push((key.clone(), state.clone()));
                    } else {
                        selection.remaining += 1;
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        Some(selection)
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

    #[test]
    fn selected_parents_come_in_pages_with_a_total() {
        let board = board(&["a/1x", "a/2", "b/1x", "b/2x", "c/1", "c/2x"]);
        let failing = |_: &ObjectKey, state: &ParentState| state.phase == ParentPhase::Failing;
        let (mut seen, mut after) = (Vec::new(), None);
        for remaining in [2, 0] {
            let page = board.select("a", after.as_ref(), 2, failing).unwrap();
            assert_eq!((page.chosen, page.remaining), (4, remaining));
            seen.extend(page.items.iter().map(|(key, _)| key.to_string()));
            after = page.items.last().map(|(key, _)| key.clone());
        }
        assert_eq!(seen, ["a/1x", "b/1x", "b/2x", "c/2x"]);
        assert!(board.select("nobody", None, 1, failing).is_none());
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
