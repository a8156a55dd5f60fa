//! The stage of a reconcile, and the purpose of each request. Values only.

use std::collections::{BTreeSet, VecDeque};

use super::{child, parent};
use crate::{
    object::{K8sType, Object, Uid},
    operator::Asks,
    plan::{ChildId, Deletion, Order, Reservation, Rollout, Step, Waiting, Write},
};

/// How far a reconcile is.
#[derive(Debug)]
pub(super) enum Stage {
    Fresh,
    /// The steps before the handler is called.
    Beginning(Purpose),
    /// Undecodable children are read live, one by one.
    Undecodable(VecDeque<ChildId>),
    Called(Call),
    /// The related objects are asked for, and the snapshot is to show them.
    Asking(Asks),
    /// The children that Kubernetes does not collect are listed, one list after the other.
    Listing(VecDeque<(K8sType, Option<String>)>, Vec<Object>, parent::collect::Orphans),
    /// They are deleted, one by one.
    Collecting(VecDeque<Object>),
    /// The other children are deleted.
    CollectingOthers(VecDeque<Object>),
    CarryingOut(CarryOut),
    /// Everything is up to date, and the caches are to show what was found before the readiness is judged.
    Judging(Option<parent::status::Returned>),
    /// A decorator puts labels and annotations on the parent; with the status that follows.
    Decorating(Option<parent::status::Returned>),
    WritingStatus,
    Redacting(Then),
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Sync {
        is_due: bool,
    },
    /// The release of the parent.
    Release,
}

#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) returned: Option<Box<Result<super::Response, super::HandlerError>>>,
    /// Whether that status is being written.
    pub(super) reports_timeout: bool,
    /// That status, while its schema is read.
    pub(super) writing: Option<Box<parent::status::Writing>>,
}

#[derive(Debug)]
pub(super) struct CarryOut {
    pub(super) status: Option<parent::status::Returned>,
    pub(super) steps: Vec<Step>,
    pub(super) waiting: Vec<Waiting>,
    /// What goes first; `None` if all steps may be sent together.
    pub(super) sequence: Option<Box<Sequence>>,
    pub(super) replacing: Vec<Uid>,
    pub(super) existing: usize,
    pub(super) paused: Option<crate::journal::PausedBy>,
    pub(super) phase: Phase,
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

#[derive(Debug)]
pub(super) enum Phase {
    /// Dry runs of children with `on_delete`.
    Doubtful(VecDeque<Write>),
    /// Live reads of children that terminate slowly.
    TerminatingChildren(VecDeque<Object>),
    /// A live read of the parent before children are created.
    MayCreate,
    /// Deletions are reserved from the operator's budget.
    Reserving,
    Writing(Window),
    Deleting(VecDeque<Deletion>),
}

#[derive(Debug)]
pub(super) struct Window {
    pub(super) steps: VecDeque<Step>,
    pub(super) deletions: Vec<Deletion>,
    /// The most writes in flight.
    pub(super) size: usize,
    pub(super) in_flight: usize,
    /// The number of failed requests at the last answer.
    pub(super) failures: usize,
}

#[derive(Debug)]
pub(super) enum Then {
    WriteStatus(Option<parent::status::Returned>),
    /// The whole status was refused.
    WriteConditions(crate::journal::RequestFailure, bool),
    /// A status write that waited for the schema.
    ResumeStatus(Box<parent::status::Writing>),
    Finish,
}

#[derive(Debug)]
pub(super) enum Awaited {
    Parent,
    Leaving(Object),
    Finalizer(parent::finalizer::State),
    UndecodableChild(ChildId),
    Listed(K8sType),
    Doubtful(Write, Object),
    TerminatingChildren(Object),
    MayCreate,
    Child(Box<child::State>),
    Status(Box<parent::status::State>),
    Decoration(Box<parent::decoration::State>),
}
