//! The stages of a reconcile, and what each of them holds. Values only; `machine` has the table of what follows.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::{
    HandlerError, RequestId, Response, child,
    parent::{
        collect::{List, Orphans},
        decoration, finalizer,
        status::{self, ReturnedStatus},
    },
};
use crate::{
    journal::{PausedBy, RequestFailure},
    object::{K8sType, Object, Uid},
    operator::Decoration,
    plan::{ChildId, Deletion, Desired, Order, Reservation, Rollout, Step, WaitingChild, Write},
};

/// How far a reconcile is, and what it waits for.
#[derive(Debug)]
pub(super) enum Stage {
    /// Nothing was done.
    Fresh,

    // === observe ===
    /// The parent is read live, because its newest version is undecodable.
    ReadingParent,
    /// A parent that is leaving is read live, because this cached version may be outdated.
    ReadingLeavingParent(Object),
    /// Our finalizer is added, or removed because it is not needed any more.
    ChangingFinalizer {
        /// Whether a change was needed when it began.
        is_due: bool,
        awaited: finalizer::AwaitedFinalizer,
    },
    /// An undecodable child is read live; others are left.
    ReadingUndecodable(ChildId, VecDeque<ChildId>),
    /// The caches are to show what was read before the handler is called.
    Refreshing,

    // === handle ===
    Called,
    /// The related objects that the handler has named are looked up.
    ReadingRelated,
    /// The handler is late, which is written into the status; with its result, if it has returned meanwhile.
    ReportingTimeout(Box<status::AwaitedStatus>, Option<Returning>),
    /// The same, while the schema of the parents is read.
    ReadingSchemaForTimeout(Box<status::Writing>, Option<Returning>),

    // === write ===
    /// A dry run shows whether a child with `on_delete` differs.
    DryRunning(Box<CarryOut>, Box<Doubt>),
    /// A child that terminates slowly is read live; others are left.
    ReadingTerminating(Box<CarryOut>, Object, VecDeque<Object>),
    /// The parent is read live before children are created.
    ReadingParentAgain(Box<CarryOut>),
    /// Deletions are reserved from the operator's budget.
    Reserving(Box<CarryOut>),
    Writing(Box<CarryOut>, Window),
    /// A child is deleted; others are left.
    Deleting(Box<CarryOut>, Box<child::AwaitedChild>, VecDeque<Deletion>),

    // === finalize ===
    /// The children that Kubernetes does not collect are listed.
    Listing(Box<Listing>),
    /// One of them is deleted; others are left.
    Collecting(Object, Box<child::AwaitedChild>, VecDeque<Object>),
    /// One of the children that Kubernetes collects is deleted; others are left.
    CollectingOthers(Box<child::AwaitedChild>, VecDeque<Object>),
    /// Our finalizer is removed from a parent that is leaving.
    Releasing(finalizer::AwaitedFinalizer),

    // === report ===
    /// A decorator puts labels and annotations on the parent; with the status that follows.
    Decorating(Option<ReturnedStatus>, Box<decoration::AwaitedDecoration>),
    /// The caches are to show what was written before the readiness is judged.
    Judging(Option<ReturnedStatus>),
    /// The schemas are read on which the next step depends.
    ReadingSchema(Then),
    WritingStatus(Box<status::AwaitedStatus>),
    /// A decorator writes its fields of the status.
    DecoratingStatus(Box<decoration::AwaitedDecoration>),
    Finished,
}

/// What the handler returned.
pub(super) type Returning = Box<Result<Response, HandlerError>>;

/// What follows when the schemas are read.
#[derive(Debug)]
pub(super) enum Then {
    Plan(Box<Returned>),
    WriteStatus(Option<ReturnedStatus>),
    /// The whole status was refused: the failure, and whether the reconcile had failed before.
    WriteConditions(RequestFailure, bool),
    /// A status write that waited for the schema.
    ResumeStatus(Box<status::Writing>),
    Finish,
}

/// What the handler returned, to be planned.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) desired: Desired,
    pub(super) status: Option<Value>,
    pub(super) decoration: Decoration,
}

/// A child whose difference is to be confirmed, and those after it.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) write: Write,
    pub(super) live: Object,
    pub(super) left: VecDeque<Write>,
}

/// A plan that is carried out.
#[derive(Debug)]
pub(super) struct CarryOut {
    pub(super) status: Option<ReturnedStatus>,
    pub(super) steps: Vec<Step>,
    pub(super) waiting: Vec<WaitingChild>,
    /// What goes first; `None` if all steps may be sent together.
    pub(super) sequence: Option<Box<Sequence>>,
    pub(super) replacing: Vec<Uid>,
    pub(super) existing: usize,
    pub(super) paused: Option<PausedBy>,
    pub(super) taken: Option<Reservation>,
}

/// What goes first, as in the [`Plan`](crate::plan::Plan).
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) order: Option<Box<Order>>,
    pub(super) rollouts: Vec<Rollout>,
    pub(super) leaving: Vec<(ChildId, u16)>,
    /// The children of rollouts whose change has begun.
    pub(super) begun: BTreeSet<ChildId>,
}

impl Sequence {
    /// `None` if there is none.
    pub(super) fn of(
        order: Option<Box<Order>>,
        rollouts: Vec<Rollout>,
        leaving: Vec<(ChildId, u16)>,
    ) -> Option<Box<Self>> {
        let is_one = order.is_some() || !rollouts.is_empty() || !leaving.is_empty();
        is_one.then(|| Box::new(Self { order, rollouts, leaving, begun: BTreeSet::new() }))
    }
}

/// The most concurrent writes for one parent.
const MAX_AT_ONCE: usize = 8;

/// The writes that are sent together, and the deletions that follow them.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) steps: VecDeque<Step>,
    pub(super) deletions: Vec<Deletion>,
    /// The children whose requests are in flight.
    pub(super) in_flight: Vec<(RequestId, Box<child::AwaitedChild>)>,
    /// The most writes in flight.
    size: usize,
    /// The number of failed requests at the last answer.
    failures: usize,
}

impl Window {
    pub(super) fn new(steps: VecDeque<Step>, failures: usize) -> Self {
        Self { steps, deletions: Vec::new(), in_flight: Vec::new(), size: 1, failures }
    }

    /// Whether no further write is sent before an answer. `spare` is how many requests the process may send beside.
    pub(super) fn is_full(&self, spare: usize) -> bool {
        let in_flight = self.in_flight.len();
        self.steps.is_empty() || in_flight >= self.size || (in_flight > 0 && spare == 0)
    }

    /// Whether nothing is left to send, and nothing to wait for.
    pub(super) fn is_over(&self) -> bool {
        self.steps.is_empty() && self.in_flight.is_empty()
    }

    pub(super) fn awaits(&self, id: RequestId) -> bool {
        self.in_flight.iter().any(|(known, _)| *known == id)
    }

    /// The child that waited for an answer.
    pub(super) fn answered(&mut self, id: RequestId) -> Option<Box<child::AwaitedChild>> {
        let index = self.in_flight.iter().position(|(known, _)| *known == id)?;
        Some(self.in_flight.swap_remove(index).1)
    }

    /// Records the end of a write. `failures` is the number of failed requests so far.
    pub(super) fn ended(&mut self, deletion: Option<Deletion>, failures: usize) {
        self.deletions.extend(deletion);
        let is_well = self.failures == failures;
        self.size = if is_well { (self.size + 1).min(MAX_AT_ONCE) } else { 1 };
        self.failures = failures;
    }
}

/// Lists of the children that Kubernetes does not collect, one after the other.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) orphans: Orphans,
    /// The type of the list that is requested.
    pub(super) ty: K8sType,
    pub(super) left: VecDeque<List>,
    pub(super) found: Vec<Object>,
}
