//! The values on the board.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use crate::{
    history::{History, NextWake},
    object::{ObjectKey, SecretFields, Uid},
    operator::{OperatorConfig, OperatorName},
    plan::FlappingSummary,
    store::StoreReader,
};

/// An operator as it was registered.
#[derive(Debug, Clone)]
pub struct OperatorInfo {
    /// Its checked name.
    pub name: OperatorName,
    /// Its configuration.
    pub config: OperatorConfig,
    /// Whether its parents get a finalizer, for the handler or for children.
    pub has_finalizer: bool,
}

/// Where an operator stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorState {
    /// It waits for its first lists.
    Starting {
        /// What it waits for, in words.
        waiting_for: Vec<String>,
    },
    /// All it needs is there.
    Running,
    /// It does what it can without something that it needs, or nothing while handlers that do not
    /// return hold all its places.
    Degraded {
        /// What is wrong and why, in words.
        reasons: Vec<String>,
    },
}

/// That a person has paused an operator: it writes no child and no finalizer, and all else goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorPause {
    /// Since when.
    pub since: SystemTime,
    /// Who ordered it, if that is known.
    pub by: Option<String>,
}

/// The watch of a type, as its reflector sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypeState {
    /// Whether the first list was complete.
    pub synced: bool,
    /// What is wrong now.
    pub error: Option<TypeError>,
    /// When the server last sent something, to the second.
    pub last_event: Option<SystemTime>,
    /// How often the watch had to begin anew.
    pub restarts: u64,
    /// How often an object could not be read.
    pub undecodable: u64,
    /// When the server last went back to an earlier version, as one restored from a backup does, or one
    /// that answers from an old copy.
    pub version_regressed: Option<SystemTime>,
    /// Whether nothing of the type is deleted for now, because the server went back.
    pub deletions_held: bool,
    /// Each namespace that has a watch of its own; empty when one watch covers all. While that one
    /// is forbidden it is the first, and others stand in for it.
    pub namespaces: Vec<NamespaceState>,
    /// Which fields its schema marks as secret; `None` while that is not known.
    pub secrets: Option<Arc<SecretFields>>,
}

/// One of the watches of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceState {
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// Whether the first list was complete.
    pub synced: bool,
    /// What is wrong now.
    pub error: Option<TypeError>,
}

/// Why a type cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeError {
    /// What the server said.
    pub message: String,
    /// The permission that would mend it, for example `list, watch on pods`.
    pub permission: Option<String>,
}

/// Where a parent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParentPhase {
    /// It is to run for the first time or after all was well, and waits for a permit.
    Pending,
    /// Such a reconcile is under way, or one that hangs.
    Running,
    /// Nothing is left to do.
    Synced,
    /// Something has to happen elsewhere first.
    Waiting,
    /// The last reconcile failed and is repeated; also while it is.
    Failing,
    /// The last reconcile failed in a way that only a change of the parent can mend.
    Stalled,
    /// It is being deleted, or has left the selection of its operator.
    Finalizing,
    /// A person has paused it: nothing is written.
    Paused,
}

/// A parent as its reconciler sees it.
#[derive(Debug, Clone)]
pub struct ParentState {
    /// Its uid.
    pub uid: Uid,
    /// Its generation.
    pub generation: Option<i64>,
    /// Where it stands.
    pub phase: ParentPhase,
    /// Its last reconciles.
    pub history: History,
    /// When it runs again by itself.
    pub next_wake: Option<NextWake>,
    /// How many runs in a row failed.
    pub failures: u32,
    /// What there is to say about the phase.
    pub message: Option<String>,
    /// What is written again and again for it.
    pub flapping_summary: Option<Box<FlappingSummary>>,
    /// What becomes of its next reconcile.
    pub run: ReconcileStage,
}

/// How far the next reconcile of a parent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReconcileStage {
    /// Nothing asks for it, or its time has not come.
    #[default]
    Ahead,
    /// It waits for a permit.
    Queued,
    /// It is under way.
    UnderWay,
    /// It is under way and its handler has not returned in time; the message of the parent says so.
    Overdue,
}

/// An operator at one moment.
#[derive(Debug, Clone)]
pub struct OperatorSnapshot {
    /// As it was registered.
    pub info: OperatorInfo,
    /// Where it stands.
    pub state: OperatorState,
    /// Whether a person has paused it.
    pub paused: Option<OperatorPause>,
    /// How many of its parents are in each phase.
    pub parents: BTreeMap<ParentPhase, usize>,
}

/// Some parents of an operator, by key.
#[derive(Debug, Clone)]
pub struct ParentPage {
    /// The parents.
    pub items: Vec<(ObjectKey, ParentState)>,
    /// Whether more follow.
    pub goes_on: bool,
    /// How many there are on all pages, where that is known without looking at them.
    pub total: Option<usize>,
}

/// A type at one moment.
#[derive(Debug, Clone)]
pub struct TypeSnapshot {
    /// Its store.
    pub store: StoreReader,
    /// Its watch.
    pub state: TypeState,
}

// === OperatorState ===

impl OperatorState {
    /// The state in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Starting { .. } => "starting",
            Self::Running => "running",
            Self::Degraded { .. } => "degraded",
        }
    }

    /// What is missing and why.
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Starting { waiting_for: reasons } | Self::Degraded { reasons } => reasons,
            Self::Running => &[],
        }
    }

    /// Whether the process need not wait for this operator any longer.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Starting { .. } => false,
            Self::Degraded { reasons } => !reasons.is_empty(),
            Self::Running => true,
        }
    }
}

// === TypeState ===

impl TypeState {
    /// Whether anything that is told is different.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let (last_event, secrets) = (self.last_event, self.secrets.clone());
        *self != Self { last_event, secrets, ..other.clone() }
    }
}

// === TypeSnapshot ===

impl TypeSnapshot {
    /// Which fields of the type are secret; `None` while that is not known.
    pub fn secrets(&self) -> Option<Arc<SecretFields>> {
        if self.store.ty().may_be_custom() {
            return self.state.secrets.clone();
        }
        // Kubernetes marks none of its own.
        Some(Arc::default())
    }
}

// === ParentPhase ===

impl ParentPhase {
    /// Every phase.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Synced,
        Self::Waiting,
        Self::Failing,
        Self::Stalled,
        Self::Finalizing,
        Self::Paused,
    ];

    /// The phase in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Synced => "synced",
            Self::Waiting => "waiting",
            Self::Failing => "failing",
            Self::Stalled => "stalled",
            Self::Finalizing => "finalizing",
            Self::Paused => "paused",
        }
    }
}

// === ParentState ===

impl ParentState {
    /// A parent that has not run yet.
    pub fn pending(uid: Uid, generation: Option<i64>) -> Self {
        let (next_wake, failures, message, flapping_summary, run) = <_>::default();
        let (phase, history) = (ParentPhase::Pending, History::default());
        Self {
            uid,
            generation,
            phase,
            history,
            next_wake,
            failures,
            message,
            flapping_summary,
            run,
        }
    }

    /// Takes in that what keeps a reconcile back that is under way has ended: how that hangs stays as it is.
    pub(crate) fn resume(&mut self) {
        if self.phase == ParentPhase::Paused {
            self.phase = ParentPhase::Running;
        }
    }

    /// Takes in that a reconcile is queued, or begins. What the last one left is true until it ends: who
    /// fails is not well for a moment with each repetition.
    pub(crate) fn go_on(&mut self, run: ReconcileStage) {
        let is_well =
            matches!(self.phase, ParentPhase::Pending | ParentPhase::Running | ParentPhase::Synced);
        self.phase = match run {
            ReconcileStage::Queued if is_well => ParentPhase::Pending,
            ReconcileStage::UnderWay if is_well => ParentPhase::Running,
            ReconcileStage::Overdue => ParentPhase::Running,
            ReconcileStage::Ahead | ReconcileStage::Queued | ReconcileStage::UnderWay => self.phase,
        };
        self.run = run;
        self.next_wake = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reconcile_that_begins_hides_nothing_but_that_all_was_well() {
        use ParentPhase::{Failing, Paused, Pending, Running, Stalled, Synced, Waiting};
        let after = |phase, run| {
            let mut parent = ParentState { phase, ..ParentState::pending(Uid::new("u"), None) };
            parent.go_on(run);
            parent.phase
        };
        for phase in [Pending, Synced] {
            assert_eq!(after(phase, ReconcileStage::Queued), Pending);
            assert_eq!(after(phase, ReconcileStage::UnderWay), Running);
            assert_eq!(after(phase, ReconcileStage::Ahead), phase);
        }
        for phase in [Failing, Stalled, Paused, Waiting] {
            assert_eq!(after(phase, ReconcileStage::Queued), phase);
            assert_eq!(after(phase, ReconcileStage::UnderWay), phase);
            assert_eq!(after(phase, ReconcileStage::Overdue), Running, "it hangs, which is worse");
        }
    }

    #[test]
    fn a_reconcile_that_nothing_keeps_back_any_more_is_shown_as_one_and_may_hang_as_before() {
        let parent = ParentState::pending(Uid::new("u"), None);
        let mut parent = ParentState { phase: ParentPhase::Paused, ..parent };
        for run in [ReconcileStage::UnderWay, ReconcileStage::Overdue] {
            parent.go_on(run);
            parent.resume();
            assert_eq!((parent.phase, parent.run), (ParentPhase::Running, run));
        }
    }
}
