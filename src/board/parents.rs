//! The parents of an operator, filtered and in pages.
//!
//! The lock is held for a bounded number of parents at once, because reconcilers write to the board
//! all the time. A page is therefore not one consistent snapshot, but each parent in it is.

use std::{
    collections::BTreeSet,
    ops::{Bound, ControlFlow},
};

use super::{Board, ParentPage, ParentPhase, ParentState, shared::Operator};
use crate::object::ObjectKey;

/// Which parents to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParentFilter {
    /// Only those of this namespace.
    pub(crate) namespace: Option<String>,
    /// Only those in one of these phases; none means any.
    pub(crate) phases: BTreeSet<ParentPhase>,
    /// Only those whose `namespace/name` contains this text, ignoring case.
    pub(crate) text: Option<String>,
}

/// How many parents are scanned under one lock.
const AT_ONCE: usize = 512;

impl Board {
    /// The matching parents of an operator after a key; `None` if there is no such operator.
    pub(crate) fn parents(
        &self,
        operator: &str,
        filter: &ParentFilter,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> Option<ParentPage> {
        let wanted = Wanted::new(filter);
        let total = filter.count(self.read().operators.get(operator)?);
        let mut page = ParentPage { items: Vec::new(), has_more: false, total };
        self.each_parent_from(operator, wanted.start(after), |key, state| {
            if wanted.is_beyond(key) {
                return ControlFlow::Break(());
            }
            if wanted.holds(key, state) {
                if page.items.len() == limit {
                    page.has_more = true;
                    return ControlFlow::Break(());
                }
                page.items.push((key.clone(), state.clone()));
            }
            ControlFlow::Continue(())
        })?;
        Some(page)
    }

    /// Visits the parents of an operator until the closure breaks; `None` if there is no such operator.
    /// The closure must not call the board.
    pub(crate) fn each_parent(
        &self,
        operator: &str,
        look: impl FnMut(&ObjectKey, &ParentState) -> ControlFlow<()>,
    ) -> Option<()> {
        self.each_parent_from(operator, Bound::Unbounded, look)
    }

    fn each_parent_from(
        &self,
        operator: &str,
        mut from: Bound<ObjectKey>,
        mut look: impl FnMut(&ObjectKey, &ParentState) -> ControlFlow<()>,
    ) -> Option<()> {
        loop {
            let contents = self.read();
            let parents = &contents.operators.get(operator)?.parents;
            let mut last = None;
            for (number, (key, state)) in parents.range((from, Bound::Unbounded)).enumerate() {
                if number == AT_ONCE {
                    break;
                }
                if look(key, state).is_break() {
                    return Some(());
                }
                last = (number + 1 == AT_ONCE).then(|| key.clone());
            }
            match last {
                Some(last) => from = Bound::Excluded(last),
                None => return Some(()),
            }
        }
    }
}

impl ParentFilter {
    /// How many parents match, where this is known without scanning them.
    fn count(&self, operator: &Operator) -> Option<usize> {
        let Self { namespace: None, phases, text: None } = self else { return None };
        if phases.is_empty() {
            return Some(operator.parents.len());
        }
        Some(phases.iter().filter_map(|phase| operator.by_phase.get(phase)).sum())
    }
}

/// A filter, prepared for many parents.
struct Wanted<'a> {
    filter: &'a ParentFilter,
    text: Option<String>,
}

impl<'a> Wanted<'a> {
    fn new(filter: &'a ParentFilter) -> Self {
        Self { filter, text: filter.text.as_ref().map(|text| text.to_ascii_lowercase()) }
    }

    /// The first possible key: keys are sorted by namespace.
    fn start(&self, after: Option<&ObjectKey>) -> Bound<ObjectKey> {
        let first = self.filter.namespace.as_ref().map(|name| ObjectKey::namespaced(name, ""));
        match (after, first) {
            (Some(after), Some(first)) if *after < first => Bound::Included(first),
            (Some(after), _) => Bound::Excluded(after.clone()),
            (None, Some(first)) => Bound::Included(first),
            (None, None) => Bound::Unbounded,
        }
    }

    fn is_beyond(&self, key: &ObjectKey) -> bool {
        self.filter
            .namespace
            .as_deref()
            .is_some_and(|wanted| key.namespace.as_deref() > Some(wanted))
    }

    fn holds(&self, key: &ObjectKey, state: &ParentState) -> bool {
        let ParentFilter { namespace, phases, text: _ } = self.filter;
        namespace.as_deref().is_none_or(|wanted| key.namespace.as_deref() == Some(wanted))
            && (phases.is_empty() || phases.contains(&state.phase))
            && self
                .text
                .as_ref()
                .is_none_or(|text| key.to_string().to_ascii_lowercase().contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::OperatorInfo,
        object::{K8sType, Uid},
        operator::{OperatorConfig, OperatorName},
    };

    fn name() -> OperatorName {
        OperatorName::new("echo-server").unwrap()
    }

    fn board(keys: &[&str]) -> Board {
        let board = Board::new();
        let config = OperatorConfig::new("echo-server", K8sType::namespaced("v1", "Pod", "pods"));
        board.register(OperatorInfo { name: name(), config, has_finalizer: false });
        for key in keys {
            let state = ParentState::pending(Uid::new(key), Some(1));
            board.record(&name(), &key.parse().unwrap(), state);
        }
        board
    }

    fn fail(board: &Board, key: &str) {
        let failing = |state: &mut ParentState| state.phase = ParentPhase::Failing;
        board.update_parent(&name(), &key.parse().unwrap(), &Uid::new(key), failing);
    }

    /// The keys of each page.
    fn pages(board: &Board, filter: &ParentFilter, limit: usize) -> Vec<Vec<String>> {
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let page = board.parents("echo-server", filter, after.as_ref(), limit).unwrap();
            pages.push(page.items.iter().map(|(key, _)| key.to_string()).collect());
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.has_more {
                return pages;
            }
        }
    }

    #[test]
    fn parents_come_in_pages_by_key() {
        let board = board(&["b/1", "a/2", "a/1", "b/2", "c/1"]);
        let all = ParentFilter::default();
        assert_eq!(pages(&board, &all, 2), [vec!["a/1", "a/2"], vec!["b/1", "b/2"], vec!["c/1"]]);
        assert_eq!(pages(&board, &all, 5).len(), 1, "no empty page at the end");
        assert!(board.parents("nobody", &all, None, 1).is_none());
    }

    #[test]
    fn a_page_can_start_after_a_parent_that_is_gone() {
        let board = board(&["a/1", "a/2", "a/3"]);
        let gone = ObjectKey::namespaced("a", "2");
        board.forget(&name(), &gone);
        let all = ParentFilter::default();
        let page = board.parents("echo-server", &all, Some(&gone), 5).unwrap();
        assert_eq!(page.items[0].0, ObjectKey::namespaced("a", "3"));
    }

    #[test]
    fn a_filter_finds_by_namespace_phase_and_text_together() {
        let board = board(&["a/1", "a/web", "aa/1", "b/Web-1", "b/1", "c/web"]);
        for key in ["a/web", "b/1", "c/web"] {
            fail(&board, key);
        }
        let filter = |namespace: &str, phases: &[ParentPhase], text: &str| ParentFilter {
            namespace: Some(namespace.to_owned()).filter(|name| !name.is_empty()),
            phases: phases.iter().copied().collect(),
            text: Some(text.to_owned()).filter(|text| !text.is_empty()),
        };
        let failing = &[ParentPhase::Failing];
        for (filter, expected) in [
            (filter("a", &[], ""), vec!["a/1", "a/web"]),
            (filter("b", &[], ""), vec!["b/1", "b/Web-1"]),
            (filter("nowhere", &[], ""), vec![]),
            (filter("", failing, ""), vec!["a/web", "b/1", "c/web"]),
            (filter("", &[ParentPhase::Failing, ParentPhase::Stalled], "B/"), vec!["b/1"]),
            (filter("", &[], "wEb"), vec!["a/web", "b/Web-1", "c/web"]),
            (filter("c", failing, "web"), vec!["c/web"]),
            (filter("c", &[ParentPhase::Pending], "web"), vec![]),
        ] {
            let found: Vec<String> = pages(&board, &filter, 1).concat();
            assert_eq!(found, expected, "{filter:?}");
        }
    }

    #[test]
    fn more_parents_than_are_scanned_under_one_lock_are_all_found() {
        let keys: Vec<String> =
            (0..AT_ONCE * 2 + 7).map(|number| format!("ns/{number:06}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let board = board(&keys);
        let all = ParentFilter::default();
        assert_eq!(pages(&board, &all, 400).concat(), keys);
        fail(&board, keys[keys.len() - 1]);
        let failing = ParentFilter { phases: [ParentPhase::Failing].into(), ..all };
        assert_eq!(pages(&board, &failing, 1), [[keys[keys.len() - 1]]]);
    }

    #[test]
    fn the_total_is_given_where_it_is_known_without_a_scan() {
        let board = board(&["a/1", "a/2", "b/1"]);
        fail(&board, "a/1");
        let total =
            |filter: ParentFilter| board.parents("echo-server", &filter, None, 1).unwrap().total;
        let failing = ParentFilter { phases: [ParentPhase::Failing].into(), ..Default::default() };
        assert_eq!(total(ParentFilter::default()), Some(3));
        assert_eq!(total(failing.clone()), Some(1));
        let text = Some("a".to_owned());
        assert_eq!(total(ParentFilter { text, ..failing }), None);
    }
}
