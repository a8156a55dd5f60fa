//! The values on the board.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use crate::{
    election::FenceReach,
    history::{History, NextWake},
    object::{ObjectKey, Uid},
    operator::{OperatorConfig, OperatorName, Pause},
    plan::FlappingSummary,
};

/// An operator as it was registered.
#[derive(Debug, Clone)]
pub(crate) struct OperatorInfo {
    pub(crate) name: OperatorName,
    pub(crate) config: OperatorConfig,
    /// Whether its parents get a finalizer, for the handler or for children.
    pub(crate) has_finalizer: bool,
}

/// The state of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorState {
    /// It waits for its first lists.
    Starting {
        /// What it waits for, as text.
        waiting_for: Vec<String>,
    },
    /// It has everything that it needs.
    Running,
    /// It lacks something that it needs, or handlers that do not return hold all its permits.
    Degraded {
        /// What is wrong and why, as text.
        reasons: Vec<String>,
    },
}

/// The restarts of an operator after panics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperatorRestarts {
    pub(crate) count: u64,
    pub(crate) last: SystemTime,
    /// What panicked the last time, as a sentence without its full stop.
    pub(crate) why: String,
}

/// The part of this process in the election of a leader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leadership {
    /// Namespace and name of the Lease.
    pub(crate) lease: String,
    /// Who this process is.
    pub(crate) identity: String,
    /// Whether this process leads.
    pub(crate) leads: bool,
    /// Who holds the Lease, as far as is known.
    pub(crate) holder: Option<String>,
    /// Why the last request failed.
    pub(crate) problem: Option<String>,
    /// Whether that lasts, and this process does not lead: nobody may.
    pub(crate) is_lost: bool,
    /// Where the writes of a former leader are held back.
    pub(crate) reach: FenceReach,
    /// For which part of the parents this process works, where it shares them with others.
    pub(crate) share: Option<String>,
}

impl Leadership {
    /// The part in words; `None` if there is nothing to say.
    pub(crate) fn sentence(&self) -> Option<String> {
        let Self { lease, leads, holder, problem, share, .. } = self;
        let role = match holder {
            _ if *leads => share.clone(),
            Some(holder) => Some(format!("standby: {holder} leads by the Lease {lease}")),
            None => Some(format!("standby: nobody holds the Lease {lease}")),
        };
        let problem =
            problem.as_ref().map(|why| format!("the Lease {lease} cannot be used: {why}"));
        let parts: Vec<String> = role.into_iter().chain(problem).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The phase of a parent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ParentPhase {
    /// It waits for a permit for its first reconcile, or for one after a successful reconcile.
    Pending,
    /// Such a reconcile is in progress, or any reconcile whose handler has exceeded its timeout.
    Running,
    /// It is up to date and ready.
    Ready,
    /// It is up to date and not ready: children of it are not, or its handler says so.
    Synced,
    /// It waits for something outside of its operator.
    Waiting,
    /// The last reconcile failed and the problem may pass by itself. It is retried.
    Failing,
    /// It makes no progress until somebody acts: its condition `Stalled` is `True`, also while it is retried.
    Stalled,
    /// It is being deleted, or its operator no longer selects it.
    Finalizing,
    /// A user has paused it: nothing is written.
    Paused,
}

/// The state of a parent.
#[derive(Debug, Clone)]
pub struct ParentState {
    pub(crate) uid: Uid,
    pub(crate) generation: Option<i64>,
    /// Its phase.
    pub phase: ParentPhase,
    /// Its last reconciles.
    pub history: History,
    /// When it is reconciled next without a trigger.
    pub next_wake: Option<NextWake>,
    /// How many reconciles failed in a row.
    pub failures: u32,
    /// Details of the phase.
    pub message: Option<String>,
    pub(crate) flapping_summary: Option<Box<FlappingSummary>>,
    /// The pause of the parent itself; since when is always known.
    pub(crate) pause: Option<Arc<Pause>>,
    /// The code that allows its deletions that are held.
    pub(crate) approval: Option<Box<str>>,
    /// The stage of its next reconcile.
    pub stage: ReconcileStage,
}

/// The stage of the next reconcile of a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReconcileStage {
    /// It is not requested, or not due.
    #[default]
    NotDue,
    /// It waits for a permit.
    Queued,
    /// It is in progress.
    InProgress,
    /// It is in progress and its handler has exceeded its timeout, as the parent's message reports.
    HandlerTimeout,
}

/// An operator at one moment.
#[derive(Debug, Clone)]
pub struct OperatorSnapshot {
    /// As it was registered.
    pub(crate) info: OperatorInfo,
    /// Its state.
    pub state: OperatorState,
    /// A user's pause: it writes no child and no finalizer, and does everything else.
    pub(crate) paused: Option<Arc<Pause>>,
    /// The part of the process in the election of a leader, if there is one.
    pub(crate) leadership: Option<Leadership>,
    /// Its restarts after panics, if there were any.
    pub(crate) restarts: Option<OperatorRestarts>,
    /// How many of its parents are in each phase.
    pub parents: BTreeMap<ParentPhase, usize>,
}

impl OperatorSnapshot {
    /// Its name.
    pub fn name(&self) -> &OperatorName {
        &self.info.name
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ParentPage {
    pub(crate) items: Vec<(ObjectKey, ParentState)>,
    pub(crate) has_more: bool,
    /// How many there are on all pages, where this is known without scanning them.
    pub(crate) total: Option<usize>,
}

// === OperatorState ===

impl OperatorState {
    /// The state in one word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Starting { .. } => "starting",
            Self::Running => "running",
            Self::Degraded { .. } => "degraded",
        }
    }

    /// What is missing and why.
    pub(crate) fn reasons(&self) -> &[String] {
        match self {
            Self::Starting { waiting_for: reasons } | Self::Degraded { reasons } => reasons,
            Self::Running => &[],
        }
    }

    /// The same of an operator whose Lease cannot be used.
    pub(crate) fn degraded_by(&self, leadership: &Leadership) -> Self {
        let reasons = match self {
            Self::Degraded { reasons } => reasons.clone(),
            Self::Starting { .. } | Self::Running => Vec::new(),
        };
        Self::Degraded { reasons: reasons.into_iter().chain(leadership.sentence()).collect() }
    }

    /// Whether readiness no longer waits for this operator.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::Starting { .. } => false,
            Self::Degraded { reasons } => !reasons.is_empty(),
            Self::Running => true,
        }
    }
}

// === ParentPhase ===

impl ParentPhase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Pending,
        Self::Running,
        Self::Ready,
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
            Self::Ready => "ready",
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
    /// A parent that has not been reconciled yet.
    pub(crate) fn pending(uid: Uid, generation: Option<i64>) -> Self {
        let (next_wake, failures, message, flapping_summary, pause, approval, stage) =
            <_>::default();
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
            pause,
            approval,
            stage,
        }
    }

    /// Records that the pause of a reconcile in progress has ended. Its stage does not change.
    pub(crate) fn resume(&mut self) {
        if self.phase == ParentPhase::Paused {
            self.phase = ParentPhase::Running;
        }
    }

    /// Records that a reconcile is queued or starts. A phase other than well is kept until the reconcile
    /// ends, so that a failing parent does not look well during each retry.
    pub(crate) fn set_stage(&mut self, stage: ReconcileStage) {
        let is_well =
            matches!(self.phase, ParentPhase::Pending | ParentPhase::Running | ParentPhase::Ready);
        self.phase = match stage {
            ReconcileStage::Queued if is_well => ParentPhase::Pending,
            ReconcileStage::InProgress if is_well => ParentPhase::Running,
            ReconcileStage::HandlerTimeout => ParentPhase::Running,
            ReconcileStage::NotDue | ReconcileStage::Queued | ReconcileStage::InProgress => {
                self.phase
            }
        };
        self.stage = stage;
        self.next_wake = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_serialized_by_its_name() {
        for phase in ParentPhase::ALL {
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.name());
        }
    }

    #[test]
    fn a_reconcile_that_starts_replaces_only_a_phase_without_problems() {
        use ParentPhase::{Failing, Paused, Pending, Ready, Running, Stalled, Synced, Waiting};
        let after = |phase, stage| {
            let mut parent = ParentState { phase, ..ParentState::pending(Uid::new("u"), None) };
            parent.set_stage(stage);
            parent.phase
        };
        for phase in [Pending, Ready] {
            assert_eq!(after(phase, ReconcileStage::Queued), Pending);
            assert_eq!(after(phase, ReconcileStage::InProgress), Running);
            assert_eq!(after(phase, ReconcileStage::NotDue), phase);
        }
        for phase in [Failing, Stalled, Paused, Waiting, Synced] {
            assert_eq!(after(phase, ReconcileStage::Queued), phase);
            assert_eq!(after(phase, ReconcileStage::InProgress), phase);
            assert_eq!(
                after(phase, ReconcileStage::HandlerTimeout),
                Running,
                "a hanging handler is worse"
            );
        }
    }

    #[test]
    fn a_reconcile_that_resumes_is_running_and_keeps_its_stage() {
        let parent = ParentState::pending(Uid::new("u"), None);
        let mut parent = ParentState { phase: ParentPhase::Paused, ..parent };
        for stage in [ReconcileStage::InProgress, ReconcileStage::HandlerTimeout] {
            parent.set_stage(stage);
            parent.resume();
            assert_eq!((parent.phase, parent.stage), (ParentPhase::Running, stage));
        }
    }
}
