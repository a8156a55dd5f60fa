//! How far a reconcile is, and what each of its requests is for. Values only.

use std::collections::VecDeque;

use super::{child, parent};
use crate::{
    object::{K8sType, Object, Uid},
    plan::{ChildId, Deletion, Reservation, Step, Waiting, Write},
};

/// How far a reconcile is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It has not begun.
    Fresh,
    /// What comes before the handler is called.
    Beginning(Purpose),
    /// Children that cannot be read are looked at again, one after the other.
    Undecodable(VecDeque<ChildId>),
    /// The handler is called.
    Called(Call),
    /// What only we would ever delete is listed, one list after the other.
    Listing(VecDeque<(K8sType, Option<String>)>, Vec<Object>),
    /// It is deleted, one child after the other.
    Collecting(VecDeque<Object>),
    /// Then what Kubernetes would delete.
    CollectingOthers(VecDeque<Object>),
    /// A plan is carried out.
    CarryingOut(CarryOut),
    /// The status is written.
    Saying,
    /// The schema is read to know what is secret.
    Redacting(Then),
    /// Nothing more is to come.
    Finished,
}

/// What a change of the finalizers is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A sync comes after it; whether there was something to change.
    Sync { is_due: bool },
    /// The end of the parent.
    Release,
}

/// A call of the handler.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// What it returned while the status was still being written that it is overdue.
    pub(super) returned: Option<Box<Result<super::Response, super::HandlerError>>>,
    /// Whether that status is being written.
    pub(super) shows_overdue: bool,
    /// That status, while the schema is read for it.
    pub(super) writing: Option<Box<parent::status::Writing>>,
}

/// A plan that is carried out.
#[derive(Debug)]
pub(super) struct CarryOut {
    /// The status that the handler wants.
    pub(super) status: Option<parent::status::Returned>,
    pub(super) steps: Vec<Step>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) replacing: Vec<Uid>,
    /// How many children there are.
    pub(super) existing: usize,
    /// What holds all of it.
    pub(super) paused: Option<crate::journal::PausedBy>,
    pub(super) phase: Phase,
    /// What was taken from the operator's budget.
    pub(super) taken: Option<Reservation>,
}

/// How far a plan is carried out.
#[derive(Debug)]
pub(super) enum Phase {
    /// Dry runs of children that change only when somebody deletes them.
    Doubtful(VecDeque<Write>),
    /// Looks at children that take their time to go.
    TerminatingChildren(VecDeque<Object>),
    /// A look at the parent before children are created.
    MayCreate,
    /// The operator's budget is asked for deletions.
    Reserving,
    /// Children are written.
    Writing(Window),
    /// Children are deleted, one after the other.
    Deleting(VecDeque<Deletion>),
}

/// Writes that are sent together.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) steps: VecDeque<Step>,
    pub(super) deletions: Vec<Deletion>,
    /// How many may be under way.
    pub(super) size: usize,
    pub(super) under_way: usize,
    /// How many requests had failed when the last answer came.
    pub(super) failures: usize,
}

/// What comes after the schema was read.
#[derive(Debug)]
pub(super) enum Then {
    /// The status.
    Say(Option<parent::status::Returned>),
    /// A status that was begun.
    Write(Box<parent::status::Writing>),
    /// The end.
    Finish,
}

/// What a request is for.
#[derive(Debug)]
pub(super) enum Awaited {
    /// A parent of which the newest version cannot be read is looked at.
    Parent,
    /// A parent that goes is looked at, as it may be an old one.
    Leaving(Object),
    Finalizer(parent::finalizer::State),
    UndecodableChild(ChildId),
    Listed(K8sType),
    Doubtful(Write, Object),
    TerminatingChildren(Object),
    MayCreate,
    Child(Box<child::State>),
    Status(Box<parent::status::State>),
}
