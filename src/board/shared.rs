//! The handle on the board.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Bound,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Instant,
};

use super::{
    Beat, OperatorInfo, OperatorSnapshot, OperatorState, ParentPage, ParentPhase, ParentState,
    Pulse, TypeSnapshot, TypeState, pulse::Pulses,
};
use crate::{
    object::{K8sType, ObjectKey, Uid},
    operator::OperatorName,
    store::StoreReader,
};

/// The board of one process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Board {
    contents: Arc<RwLock<Contents>>,
    pulses: Pulses,
}

#[derive(Default)]
struct Contents {
    operators: BTreeMap<String, Operator>,
    types: BTreeMap<K8sType, TypeSnapshot>,
    is_stopping: bool,
}

struct Operator {
    info: OperatorInfo,
    state: OperatorState,
    parents: BTreeMap<ObjectKey, ParentState>,
    /// Kept beside, because it is asked for more often than anything else.
    by_phase: BTreeMap<ParentPhase, usize>,
}

// === writing ===

impl Board {
    /// An empty board.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operator that starts, or replaces the one of that name.
    pub fn register(&self, info: OperatorInfo) {
        let state = OperatorState::Starting { waiting_for: Vec::new() };
        let name = info.name.as_str().to_owned();
        let by_phase = ParentPhase::ALL.into_iter().map(|phase| (phase, 0)).collect();
        let operator = Operator { info, state, parents: BTreeMap::new(), by_phase };
        self.write().operators.insert(name, operator);
    }

    /// Shows where an operator stands.
    pub fn set_operator(&self, name: &OperatorName, state: OperatorState) {
        if let Some(operator) = self.write().operators.get_mut(name.as_str()) {
            operator.state = state;
        }
    }

    /// Adds the store of a type.
    pub fn add_store(&self, store: StoreReader) {
        let (ty, state) = (store.ty().clone(), TypeState::default());
        self.write().types.insert(ty, TypeSnapshot { store, state });
    }

    /// Shows how the watch of a type stands.
    pub fn set_type(&self, ty: &K8sType, state: TypeState) {
        self.update_type(ty, |shown| *shown = state);
    }

    /// Changes what is shown of the watch of a type. The closure must not call the board.
    pub fn update_type(&self, ty: &K8sType, change: impl FnOnce(&mut TypeState)) {
        if let Some(shown) = self.write().types.get_mut(ty) {
            change(&mut shown.state);
        }
    }

    /// Shows how a parent stands that is new, or another one of its name.
    pub fn record(&self, operator: &OperatorName, key: &ObjectKey, state: ParentState) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.forget(key);
            operator.count(state.phase, 1);
            operator.parents.insert(key.clone(), state);
        }
    }

    /// Changes what is shown of a parent, if it is on the board and is the one with this uid. The
    /// closure must not call the board.
    pub fn update_parent(
        &self,
        operator: &OperatorName,
        key: &ObjectKey,
        uid: &Uid,
        change: impl FnOnce(&mut ParentState),
    ) {
        let mut contents = self.write();
        let Some(operator) = contents.operators.get_mut(operator.as_str()) else { return };
        let parent = operator.parents.get_mut(key).filter(|parent| parent.uid == *uid);
        let Some(parent) = parent else { return };
        let before = parent.phase;
        change(parent);
        let after = parent.phase;
        operator.count(before, -1);
        operator.count(after, 1);
    }

    /// Takes a parent that is gone off the board.
    pub fn forget(&self, operator: &OperatorName, key: &ObjectKey) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.forget(key);
        }
    }

    /// Adds something that must turn over for the process to be alive; it has beaten just now.
    pub fn pulse(&self, name: String, now: Instant) -> Pulse {
        self.pulses.add(name, now)
    }

    /// Shows that the process ends: it is not ready any more.
    pub fn begin_stopping(&self) {
        self.write().is_stopping = true;
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

// === reading ===

impl Board {
    /// All operators, by name.
    pub fn operators(&self) -> Vec<OperatorSnapshot> {
        self.read().operators.values().map(Operator::snapshot).collect()
    }

    /// One operator.
    pub fn operator(&self, name: &str) -> Option<OperatorSnapshot> {
        self.read().operators.get(name).map(Operator::snapshot)
    }

    /// The parents of an operator after a key; `None` if there is no such operator.
    pub fn parents(
        &self,
        operator: &str,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> Option<ParentPage> {
        let contents = self.read();
        let parents = &contents.operators.get(operator)?.parents;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut following = parents.range::<ObjectKey, _>((from, Bound::Unbounded));
        let items = following.by_ref().take(limit);
        let items = items.map(|(key, state)| (key.clone(), state.clone())).collect();
        Some(ParentPage { items, remaining: following.count() })
    }

    /// One parent of an operator.
    pub fn parent(&self, operator: &str, key: &ObjectKey) -> Option<ParentState> {
        self.read().operators.get(operator)?.parents.get(key).cloned()
    }

    /// All types, by name.
    pub fn types(&self) -> Vec<TypeSnapshot> {
        self.read().types.values().cloned().collect()
    }

    /// The type of this value.
    pub fn type_state(&self, ty: &K8sType) -> Option<TypeSnapshot> {
        self.read().types.get(ty).cloned()
    }

    /// When everything that must turn over last did, seen from `now`.
    pub fn beats(&self, now: Instant) -> Vec<Beat> {
        self.pulses.all(now)
    }

    /// Whether the process ends.
    pub fn is_stopping(&self) -> bool {
        self.read().is_stopping
    }

    fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}

impl Operator {
    fn forget(&mut self, key: &ObjectKey) {
        if let Some(parent) = self.parents.remove(key) {
            self.count(parent.phase, -1);
        }
    }

    fn count(&mut self, phase: ParentPhase, change: isize) {
        let count = self.by_phase.entry(phase).or_default();
        *count = count.saturating_add_signed(change);
    }

    fn snapshot(&self) -> OperatorSnapshot {
        let (info, state, parents) = (self.info.clone(), self.state.clone(), self.by_phase.clone());
        OperatorSnapshot { info, state, parents }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{operator::OperatorConfig, store::Store};

    fn name() -> OperatorName {
        OperatorName::new("echo-server").unwrap()
    }

    fn pods() -> K8sType {
        K8sType::namespaced("v1", "Pod", "pods")
    }

    fn board() -> Board {
        let board = Board::new();
        let config = OperatorConfig::new("echo-server", pods());
        board.register(OperatorInfo { name: name(), config, has_finalizer: false });
        board
    }

    fn recorded(board: &Board, keys: &[&str]) {
        for key in keys {
            let state = ParentState::pending(Uid::new(key), Some(1));
            board.record(&name(), &key.parse().unwrap(), state);
        }
    }

    #[test]
    fn parents_come_in_pages_by_key() {
        let board = board();
        recorded(&board, &["b/1", "a/2", "a/1", "b/2", "c/1"]);
        let (mut after, mut seen, mut remaining) = (None, Vec::new(), Vec::new());
        loop {
            let page = board.parents("echo-server", after.as_ref(), 2).unwrap();
            seen.extend(page.items.iter().map(|(key, _)| key.to_string()));
            remaining.push(page.remaining);
            after = page.items.last().map(|(key, _)| key.clone());
            if page.remaining == 0 {
                break;
            }
        }
        assert_eq!(seen, ["a/1", "a/2", "b/1", "b/2", "c/1"]);
        assert_eq!(remaining, [3, 1, 0]);
    }

    #[test]
    fn a_page_goes_on_after_a_parent_that_is_gone() {
        let board = board();
        recorded(&board, &["a/1", "a/2", "a/3"]);
        let gone = ObjectKey::namespaced("a", "2");
        board.forget(&name(), &gone);
        let page = board.parents("echo-server", Some(&gone), 5).unwrap();
        assert_eq!(page.items[0].0, ObjectKey::namespaced("a", "3"));
    }

    #[test]
    fn parents_are_counted_by_phase() {
        let board = board();
        recorded(&board, &["a/1", "a/2", "a/3", "a/4"]);
        recorded(&board, &["a/2"]);
        for (of, uid) in [("1", "a/1"), ("3", "a namesake")] {
            let key = ObjectKey::namespaced("a", of);
            let failing = |state: &mut ParentState| state.phase = ParentPhase::Failing;
            board.update_parent(&name(), &key, &Uid::new(uid), failing);
        }
        board.forget(&name(), &ObjectKey::namespaced("a", "4"));
        let parents = board.operator("echo-server").unwrap().parents;
        assert_eq!((parents[&ParentPhase::Pending], parents[&ParentPhase::Failing]), (2, 1));
        assert_eq!(parents.len(), ParentPhase::ALL.len());
        assert_eq!(parents.values().sum::<usize>(), 3);
    }

    #[test]
    fn what_was_never_registered_is_never_shown() {
        let board = Board::new();
        recorded(&board, &["a/1"]);
        board.set_operator(&name(), OperatorState::Running);
        board.set_type(&pods(), TypeState::default());
        assert!(board.operators().is_empty() && board.types().is_empty());
        assert!(board.parents("echo-server", None, 1).is_none());
    }

    #[test]
    fn the_watch_of_a_type_is_changed_in_place() {
        let board = board();
        board.add_store(Store::new(pods(), BTreeSet::new()).reader());
        board.update_type(&pods(), |state| state.restarts += 1);
        board.update_type(&pods(), |state| state.restarts += 1);
        assert_eq!(board.type_state(&pods()).unwrap().state.restarts, 2);
    }

    #[test]
    fn a_degraded_operator_must_say_why() {
        assert!(!OperatorState::Degraded { reasons: Vec::new() }.is_settled());
        assert!(OperatorState::Degraded { reasons: vec!["x".to_owned()] }.is_settled());
        assert!(!OperatorState::Starting { waiting_for: Vec::new() }.is_settled());
    }
}
