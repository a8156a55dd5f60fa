//! The handle on the board.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::SystemTime,
};

use tokio::sync::mpsc;

use super::{
    Change, CredentialState, Full, Group, Leadership, Migration, OperatorInfo, OperatorRestarts,
    OperatorSnapshot, OperatorState, ParentName, ParentPhase, ParentState, QueueState, Reader,
    Subscription, TypeSnapshot, WebRequest,
    activity::Activity,
    feed::{self, Feed},
    pulse::Pulses,
    trend::Trend,
    webhook_reads::WebhookReads,
};
use crate::{
    object::{K8sType, ObjectKey, Uid},
    operator::{OperatorName, Pause},
    plan::UndeclaredField,
    related::{Reads, Source},
};

/// The board of one process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Board {
    contents: Arc<RwLock<Contents>>,
    pub(super) pulses: Pulses,
    pub(super) feed: Feed,
    pub(super) webhook_reads: WebhookReads,
    pub(super) activity: Activity,
    #[cfg(feature = "testkit")]
    pub(super) panics: super::panics::Panics,
}

#[derive(Default)]
pub(super) struct Contents {
    pub(super) operators: BTreeMap<String, Operator>,
    pub(super) types: BTreeMap<K8sType, TypeSnapshot>,
    pub(super) related: Vec<Source>,
    /// By the name of the CRD.
    pub(super) migrations: BTreeMap<String, Migration>,
    /// With which the process shares its parents.
    pub(super) group: Option<Group>,
    pub(super) is_stopping: bool,
    pub(super) is_plan_only: bool,
    pub(super) credentials: CredentialState,
    /// The queue of commands, while the process accepts them.
    pub(super) commands: Option<mpsc::Sender<WebRequest>>,
}

pub(super) struct Operator {
    info: OperatorInfo,
    state: OperatorState,
    paused: Option<Arc<Pause>>,
    leadership: Option<Leadership>,
    restarts: Option<OperatorRestarts>,
    /// The namespaces that it is restricted to, and whether all its types can be read there.
    pub(super) namespaces: Vec<(String, bool)>,
    /// Boxed: the nodes of a tree that is filled in order are half empty.
    pub(super) parents: BTreeMap<ObjectKey, Box<ParentState>>,
    /// Kept up to date with `parents`, because it is read most often.
    pub(super) by_phase: BTreeMap<ParentPhase, usize>,
    pub(super) queue: Option<Reader<QueueState>>,
    pub(super) undeclared: Option<Reader<Vec<UndeclaredField>>>,
    pub(super) reads: Option<Arc<Reads>>,
    pub(super) trend: Trend,
}

// === writing ===

impl Board {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a starting operator, or replaces the one of that name.
    pub(crate) fn register(&self, info: OperatorInfo) {
        let state = OperatorState::Starting { waiting_for: Vec::new() };
        let name = info.name.as_str().to_owned();
        let by_phase = ParentPhase::ALL.into_iter().map(|phase| (phase, 0)).collect();
        let (parents, paused, leadership, restarts, queue, undeclared, reads) = <_>::default();
        let (namespaces, trend) = <_>::default();
        let operator = Operator {
            info,
            state,
            paused,
            leadership,
            restarts,
            namespaces,
            parents,
            by_phase,
            queue,
            undeclared,
            reads,
            trend,
        };
        let (registered, parent) =
            (operator.info.name.clone(), operator.info.config.parent.clone());
        if self.write().operators.insert(name, operator).is_none() {
            self.activity.registered(&registered, &parent);
        }
    }

    /// Replaces the configuration of an operator; its parents stay.
    pub(crate) fn reconfigure(&self, info: OperatorInfo) {
        if let Some(operator) = self.write().operators.get_mut(info.name.as_str()) {
            operator.info = info;
        }
    }

    /// Removes an operator with its parents.
    pub(crate) fn unregister(&self, name: &OperatorName) {
        let mut contents = self.write();
        let removed = contents.operators.remove(name.as_str());
        if removed.is_some() {
            self.activity.unregistered(name);
        }
        let has_listeners = self.feed.has_listeners() && removed.is_some();
        let gone = has_listeners.then(|| Change::Operator { operator: name.clone(), state: None });
        self.notify(&contents, gone);
        drop(contents);
        self.pulses.remove(&format!("operator/{name}"));
    }

    pub(crate) fn set_operator(&self, name: &OperatorName, state: OperatorState) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(name.as_str()) else { return };
        let before = mem::replace(&mut shown.state, state);
        let is_change = self.feed.has_listeners() && before != shown.state;
        let change = is_change.then(|| shown.change(name));
        self.notify(&contents, change);
    }

    /// Sets the namespaces of an operator that is restricted to some, and whether all its types can be read there.
    pub(crate) fn set_namespaces(&self, name: &OperatorName, namespaces: Vec<(String, bool)>) {
        if let Some(shown) = self.write().operators.get_mut(name.as_str()) {
            shown.namespaces = namespaces;
        }
    }

    pub(crate) fn set_paused(&self, name: &OperatorName, paused: Option<Arc<Pause>>) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(name.as_str()) else { return };
        if let (Some(pause), None) = (&paused, &shown.paused) {
            let since = pause.since().unwrap_or_else(SystemTime::now);
            self.activity.operator_paused(since, name, (pause.by(), pause.reason()));
        }
        shown.paused = paused;
        let change = shown.change(name);
        self.notify(&contents, [change]);
    }

    pub(crate) fn set_leadership(&self, operators: &[OperatorName], leadership: &Leadership) {
        let mut contents = self.write();
        self.activity.led(operators, leadership);
        for name in operators {
            let Some(shown) = contents.operators.get_mut(name.as_str()) else { continue };
            if shown.leadership.as_ref() != Some(leadership) {
                shown.leadership = Some(leadership.clone());
                let change = shown.change(name);
                self.notify(&contents, [change]);
            }
        }
    }

    /// Counts a restart of an operator after a panic.
    pub(crate) fn restarted(&self, name: &OperatorName, why: &str) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(name.as_str()) else { return };
        let count = shown.restarts.as_ref().map_or(0, |restarts| restarts.count) + 1;
        let (last, why) = (SystemTime::now(), why.to_owned());
        shown.restarts = Some(OperatorRestarts { count, last, why });
        let change = shown.change(name);
        self.notify(&contents, [change]);
    }

    pub(crate) fn show_queue(&self, operator: &OperatorName, queue: Reader<QueueState>) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.queue = Some(queue);
        }
    }

    /// Sets the status fields that the parent type of an operator does not declare.
    pub(crate) fn show_undeclared(
        &self,
        operator: &OperatorName,
        fields: Reader<Vec<UndeclaredField>>,
    ) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.undeclared = Some(fields);
        }
    }

    /// Adds a parent, or replaces the one of that name.
    pub(crate) fn record(&self, operator: &OperatorName, key: &ObjectKey, state: ParentState) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(operator.as_str()) else { return };
        let change = self.feed.has_listeners().then(|| Change::Phase {
            parent: ParentName::new(operator, key, &state.uid),
            phase: state.phase,
        });
        shown.record(key, state);
        self.notify(&contents, change);
    }

    /// Changes the state of the parent with this key and uid. The closure must not call the board.
    pub(crate) fn update_parent(
        &self,
        operator: &OperatorName,
        key: &ObjectKey,
        uid: &Uid,
        change: impl FnOnce(&mut ParentState),
    ) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(operator.as_str()) else { return };
        let parent = shown.parents.get_mut(key).filter(|parent| parent.uid == *uid);
        let Some(parent) = parent else { return };
        let (before, reconciles) = (parent.phase, parent.history.recorded());
        change(parent);
        let after = parent.phase;
        if parent.history.recorded() > reconciles {
            let history = (&parent.history, reconciles);
            let paused = (shown.paused.is_some(), parent.pause.as_deref());
            self.activity.reconciled((operator, key), history, paused);
            shown.trend.count(&parent.history, reconciles);
        }
        let has_listeners = self.feed.has_listeners();
        let changes =
            has_listeners.then(|| feed::changes(operator, key, (before, reconciles), parent));
        shown.count(before, -1);
        shown.count(after, 1);
        self.notify(&contents, changes.into_iter().flatten());
    }

    pub(crate) fn forget(&self, operator: &OperatorName, key: &ObjectKey) {
        let mut contents = self.write();
        let Some(shown) = contents.operators.get_mut(operator.as_str()) else { return };
        let removed = shown.forget(key);
        self.activity.forget(operator, key);
        let gone = removed
            .as_ref()
            .filter(|_| self.feed.has_listeners())
            .map(|state| Change::Gone { parent: ParentName::new(operator, key, &state.uid) });
        self.notify(&contents, gone);
        // Dropping a long history takes time, so it happens outside of the lock.
        drop(contents);
    }

    pub(super) fn remove_pulse(&self, name: &str) {
        self.pulses.remove(name);
    }

    /// Records that the process is stopping: it is no longer ready and accepts no commands.
    pub(crate) fn begin_stopping(&self) {
        let mut contents = self.write();
        contents.is_stopping = true;
        contents.commands = None;
        self.notify(&contents, [Change::Stopping]);
    }

    /// Requires the lock of the board, under which `has_listeners` was checked too. Otherwise notices
    /// could be out of order, and a listener that subscribes and then reads the board could miss a change.
    pub(super) fn notify(
        &self,
        _locked: &RwLockWriteGuard<'_, Contents>,
        changes: impl IntoIterator<Item = Change>,
    ) {
        changes.into_iter().for_each(|change| self.feed.notify(change));
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

// === reading ===

impl Board {
    /// Waits until there is a notice for the listeners; for one caller, which wakes them.
    pub(crate) async fn changed(&self) {
        self.feed.changed().await;
    }

    /// Listens to changes from now on.
    ///
    /// # Errors
    /// When the limit of listeners is reached.
    pub(crate) fn subscribe(&self) -> Result<Subscription, Full> {
        self.feed.subscribe()
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}

impl Contents {
    /// That the operators of these parents are to be looked at again.
    pub(super) fn changes_of_parents(&self, resource: &str) -> Vec<Change> {
        let operators = self.operators.values();
        let of_type = operators.filter(|it| it.info.config.parent.resource_name() == resource);
        of_type.map(|operator| operator.change(&operator.info.name)).collect()
    }
}

impl Operator {
    fn record(&mut self, key: &ObjectKey, state: ParentState) {
        self.forget(key);
        self.count(state.phase, 1);
        self.parents.insert(key.clone(), Box::new(state));
    }

    fn forget(&mut self, key: &ObjectKey) -> Option<Box<ParentState>> {
        let parent = self.parents.remove(key)?;
        self.count(parent.phase, -1);
        Some(parent)
    }

    fn count(&mut self, phase: ParentPhase, change: isize) {
        let count = self.by_phase.entry(phase).or_default();
        *count = count.saturating_add_signed(change);
    }

    fn change(&self, name: &OperatorName) -> Change {
        Change::Operator { operator: name.clone(), state: Some(self.state()) }
    }

    /// Its own state, unless its Lease cannot be used.
    fn state(&self) -> OperatorState {
        match self.leadership.as_ref().filter(|it| it.is_lost) {
            Some(leadership) => self.state.degraded_by(leadership),
            None => self.state.clone(),
        }
    }

    pub(super) fn snapshot(&self) -> OperatorSnapshot {
        let Self { info, paused, leadership, restarts, by_phase, parents: _, .. } = self;
        OperatorSnapshot {
            info: info.clone(),
            state: self.state(),
            paused: paused.clone(),
            leadership: leadership.clone(),
            restarts: restarts.clone(),
            parents: by_phase.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
