//! What came of a reconcile: values, and what is plain from them.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use crate::{
    history::{Decision, Verb, WriteRecord},
    journal::{End, Failure, Pause, PausedBy, Plan, RequestFailure},
    object::{K8sType, Uid},
    operator::{ChildState, Condition, ConflictPolicy},
    plan::{ChildId, DeletionGuard, Flapping, ForeignChild, LastApplied},
};

/// What the memory of a parent says beside the facts of one reconcile.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// How each child was left.
    pub last_applied: &'a LastApplied,
    /// What is written again and again.
    pub flapping: &'a Flapping,
    /// Deletions that were too many; `None` before the first reconcile.
    pub deletion_guard: Option<&'a DeletionGuard>,
    /// Objects of others that stand where a child should be.
    pub foreign: &'a BTreeMap<ChildId, ForeignChild>,
    /// Whether a wait is owed for when a recreated child is there again.
    pub owes_wait: bool,
    /// When what is written again and again may have come to rest.
    pub calms_in: Option<Duration>,
    /// Whether the parent goes, so that what stood in its way is none of its business any more.
    pub is_leaving: bool,
}

/// What came of a reconcile, as far as it has got.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Report {
    /// The writes of children that the server accepted.
    pub writes: Vec<WriteRecord>,
    /// The writes of children that changed nothing on the server.
    pub noop_writes: Vec<WriteRecord>,
    /// What was decided about the children that were not simply up to date.
    pub decisions: Vec<Decision>,
    /// How many children were up to date.
    pub unchanged: usize,
    /// Children that cannot be written yet, and why.
    pub waiting: Vec<String>,
    /// How many of them are to be deleted as soon as every write of another child is accepted.
    pub(super) behind_writes: usize,
    /// Those of them that are not deleted, as not all of their type is known.
    pub(super) unsynced: Vec<ChildId>,
    /// Children that differ and are left so, because their strategy or conflict policy says so.
    pub held: Vec<String>,
    /// What was not done because of a pause; `None` when there is none, or when only the operator is
    /// paused and nothing was to be done.
    pub paused: Option<Pause>,
    /// What is not deleted because it is too much, in words.
    pub deletion_guard: Option<String>,
    /// When the handler wants to be called again.
    pub resync: Option<Duration>,
    /// The children that are desired and were on their way out when the reconcile began.
    pub(super) replacing: Vec<Uid>,
    /// How many children were deleted so that others come after them.
    pub(super) recreated: usize,
    /// Whether they were, and not in the reconcile before.
    pub(super) recreates_first: bool,
    /// Whether the status was written.
    pub wrote_status: bool,
    /// Whether the status waits until the server publishes what it may hold.
    pub(super) status_is_due: bool,
    /// How many objects are left alone of which no watch shows what becomes of them.
    pub(super) unwatched: usize,
    /// How far the parent got.
    pub end: End,
    /// How often something was written that is written too often.
    pub(super) slowed: Option<u32>,
    /// When what is written again and again may have come to rest.
    pub(super) calms_in: Option<Duration>,
    /// What a plan says of each child; `None` before there is one, and where nobody asks.
    pub(super) planned: Option<Vec<(ChildId, Plan)>>,
    /// The state of the single children, as far as it is known beside the plan.
    pub(super) states: HashMap<ChildId, (ChildState, String)>,
    /// The sentence about what is written again and again.
    pub(super) flapping: Option<Condition>,
    /// Whether a child is not written because others hold fields of it.
    pub(super) is_contested: bool,
    /// Whether it is known that no deletions are held.
    pub(super) holds_no_deletions: bool,
    /// What counts in the gauges from now on.
    pub gauges: Gauges,
    /// Why it failed.
    pub(super) failure: Option<Failure>,
    /// The children that requests failed about.
    pub refused: Vec<ChildId>,
    /// Requests that failed beside that.
    pub(super) beside: Vec<RequestFailure>,
}

/// What is counted of a parent as long as it is so.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// The types of the children in conflict.
    pub in_conflict: Vec<K8sType>,
    /// The types of the children of which the server makes something else.
    pub altered: Vec<K8sType>,
    /// How many deletions are held.
    pub held: usize,
}

/// So many children are named in a text for people.
const MAX_UNSETTLED: usize = 10;

impl Report {
    /// The children that are not up to date, each with the reason; of very many some.
    pub fn unsettled(&self) -> Option<String> {
        let some = self.waiting.iter().chain(&self.held).take(MAX_UNSETTLED);
        let text = some.map(String::as_str).collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }

    /// Whether the parent is to be reconciled again when its operator is no longer paused.
    pub fn owes_reconcile(&self) -> bool {
        self.paused.is_some_and(|pause| pause.by == PausedBy::Operator)
    }

    /// Why it failed.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether it is known that no deletions are held, by this reconcile or the last one that judged them.
    pub fn holds_no_deletions(&self) -> bool {
        self.holds_no_deletions
    }

    /// How many children were deleted.
    #[cfg(test)]
    pub(crate) fn deletions(&self) -> usize {
        self.writes.iter().filter(|write| write.verb == Verb::Deleted).count()
    }

    /// How many children were deleted so that others come after them.
    #[cfg(test)]
    pub(crate) fn recreated(&self) -> usize {
        self.recreated
    }

    /// Whether children were created.
    pub fn has_created(&self) -> bool {
        self.writes.iter().any(|write| write.verb == Verb::Created)
    }

    /// A reconcile that ended by a panic of ours.
    pub fn died() -> Self {
        Self { failure: Some(Failure::Died), ..Self::default() }
    }
}

/// Whether a child is left as it is because others hold fields of it.
pub(super) fn is_reported(policy: ConflictPolicy) -> bool {
    policy == ConflictPolicy::Report
}
