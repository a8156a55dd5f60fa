//! The result of a reconcile: values, and predicates on them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{returned::Returned, waiting::Waits};
use crate::{
    history::{Decision, Problem, Verb, WriteRecord},
    journal::{
        End, Failure, NotReady, Pause, PausedBy, PlannedAs, RequestFailure, RolledOut, Unapproved,
    },
    object::{K8sType, Uid},
    operator::{self, ChildState, Condition, ConflictPolicy},
    plan::{
        ChildId, DeletionGuard, FinishedJobs, Flapping, FlappingReason, ForeignChild, LastApplied,
        UndeclaredField,
    },
};

#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryView<'a> {
    pub(crate) last_applied: &'a LastApplied,
    pub(crate) flapping: &'a Flapping,
    /// The state of the deletion guard; `None` before the first reconcile.
    pub(crate) deletion_guard: Option<&'a DeletionGuard>,
    pub(crate) foreign: &'a BTreeMap<ChildId, ForeignChild>,
    /// Whether a wait is deferred until a recreated child exists.
    pub(crate) has_deferred_wait: bool,
    /// When the flapping may have stopped.
    pub(crate) calms_in: Option<Duration>,
    /// Whether the parent is leaving, so that foreign objects do not matter any more.
    pub(crate) is_leaving: bool,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Report {
    /// The writes of children that the server accepted.
    pub(crate) writes: Vec<WriteRecord>,
    /// The writes of children that changed nothing on the server.
    pub(crate) noop_writes: Vec<WriteRecord>,
    /// What was decided about the children that were not simply up to date.
    pub(crate) decisions: Vec<Decision>,
    /// How many children were up to date.
    pub(crate) unchanged: usize,
    /// What is not done yet.
    pub(super) waits: Waits,
    /// Children that finalizers of others have kept for minutes.
    pub(super) blocked: Vec<ChildId>,
    /// How far the rollouts are.
    pub(super) rollouts: Vec<RolledOut>,
    /// When a stage that is waited for will be late.
    pub(super) stage_due: Option<Duration>,
    /// Children that differ and are not written, because of their strategy or conflict policy.
    pub(crate) held: Vec<String>,
    /// The pause; `None` when there is none, or when only the operator is paused and nothing is pending.
    pub(crate) paused: Option<Pause>,
    /// What is known of the pause, if more than that it is there.
    pub(crate) pause: Option<Arc<operator::Pause>>,
    /// The condition about held deletions.
    pub(super) deletions_held: Option<Condition>,
    /// The deletions that wait for an approval.
    pub(super) unapproved: Option<Box<Unapproved>>,
    /// What keeps the parent from being up to date and ready.
    pub(crate) problems: Vec<Problem>,
    /// The resync that the handler asked for.
    pub(crate) resync: Option<Duration>,
    /// The desired children that were terminating when the reconcile began.
    pub(super) replacing: Vec<Uid>,
    /// The finished Jobs that have a TTL; `None` before there is a plan.
    pub(super) finished_jobs: Option<FinishedJobs>,
    /// How many children were deleted so that others come after them.
    pub(super) recreated: usize,
    /// Whether children were, and none in the previous reconcile.
    pub(super) recreates_first: bool,
    pub(crate) wrote_status: bool,
    pub(super) status_is_due: bool,
    /// How many objects are not modified and not covered by a watch.
    pub(super) unwatched: usize,
    pub(crate) end: End,
    /// How often a repeated write was too frequent.
    pub(super) slowed: Option<u32>,
    /// When the flapping may have stopped.
    pub(super) calms_in: Option<Duration>,
    /// The plan for each child; `None` before there is one, and where nobody asks.
    pub(super) planned: Option<Vec<(ChildId, PlannedAs)>>,
    /// The state of single children, as far as known beside the plan.
    pub(super) states: HashMap<ChildId, (ChildState, String)>,
    pub(super) flapping: Option<Condition>,
    /// Whether a child is not written because others hold its fields.
    pub(super) is_contested: bool,
    /// Whether it is known that no deletions are held.
    pub(super) holds_no_deletions: bool,
    pub(crate) gauges: Gauges,
    pub(super) failure: Option<Failure>,
    /// The Events that the handler returned.
    pub(super) returned: Returned,
    /// What Events report once.
    pub(super) news: Vec<News>,
    /// Fields that the type of the parent does not declare and that were omitted.
    pub(crate) undeclared: Vec<UndeclaredField>,
    /// Fields of the framework that the handler returned; the messages.
    pub(crate) overruled: Vec<&'static str>,
    /// Whether the parent was observed, so that a plan or a failure followed.
    pub(super) has_begun: bool,
    pub(super) has_begun_status: bool,
    /// Whether the parent or the operator was paused when the reconcile began.
    pub(super) began_paused: bool,
    /// Whether the handler returned a condition `Ready`.
    pub(super) is_ready_returned: bool,
    /// Why the parent is not ready although everything is up to date.
    pub(super) not_ready: Option<NotReady>,
    /// The children of failed requests.
    pub(crate) refused: Vec<ChildId>,
    /// Failed requests beside `failure`.
    pub(super) beside: Vec<RequestFailure>,
}

/// What happened in a reconcile that an Event reports.
#[derive(Debug)]
pub(super) enum News {
    Adopted(ChildId),
    DeletionsHeld(String),
    Flapping(FlappingReason, String),
    /// With whether the conditions were written.
    StatusRefused {
        shows_conditions: bool,
        failure: RequestFailure,
    },
    /// With the types whose cache may be incomplete.
    WritesEnded {
        unknown: BTreeSet<K8sType>,
    },
}

/// The conditions that are records for later reconciles, and that are known to be over.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Over {
    pub(crate) held_deletions: bool,
    pub(crate) finished_jobs: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gauges {
    pub(crate) in_conflict: Vec<K8sType>,
    pub(crate) altered: Vec<K8sType>,
    pub(crate) held: usize,
}

/// The most children named in a message.
const MAX_UNSETTLED: usize = 10;

impl Report {
    /// The children that are not up to date, each with the reason, up to a limit; or why the parent is not ready.
    pub(crate) fn unsettled(&self) -> Option<String> {
        if self.paused.is_none() && self.not_ready.is_some() {
            return self.not_ready.as_ref().map(ToString::to_string);
        }
        let mut texts = self.waits.texts();
        texts.extend(self.held.iter().cloned());
        texts.truncate(MAX_UNSETTLED);
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Whether a reconcile is deferred until the operator is resumed.
    pub(crate) fn has_deferred_reconcile(&self) -> bool {
        self.paused.is_some_and(|pause| pause.by == PausedBy::Operator)
    }

    /// How long the pause of the parent itself still lasts, if it ends by itself.
    pub(crate) fn pause_ends_in(&self, now: SystemTime) -> Option<Duration> {
        self.paused.filter(|pause| pause.by == PausedBy::Annotation)?;
        let until = self.pause.as_ref()?.until?;
        Some(until.duration_since(now).unwrap_or_default())
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Which records in the status are known to be over. This reconcile judged them, or an earlier one.
    pub(crate) fn over(&self) -> Over {
        Over { held_deletions: self.holds_no_deletions, finished_jobs: self.has_no_finished_jobs() }
    }

    fn has_no_finished_jobs(&self) -> bool {
        self.finished_jobs.as_ref().is_some_and(FinishedJobs::is_empty)
    }

    #[cfg(test)]
    pub(crate) fn deletions(&self) -> usize {
        self.writes.iter().filter(|write| write.verb == Verb::Deleted).count()
    }

    pub(crate) fn has_created(&self) -> bool {
        self.writes.iter().any(|write| write.verb == Verb::Created)
    }

    /// A reconcile that ended by a panic in Operetta.
    pub(crate) fn internal_error() -> Self {
        Self { failure: Some(Failure::InternalError), ..Self::default() }
    }
}

/// Whether the policy reports fields held by others as a conflict.
pub(super) fn is_reported(policy: ConflictPolicy) -> bool {
    policy == ConflictPolicy::Report
}
