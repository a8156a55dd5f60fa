//! The messages between actors: facts in the past tense, and the command `Retire`.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::backlog::Batch;
use crate::{
    board::{OperatorState, Preview, Responder, WebRequest},
    cluster::{List, WatchNote, Watched},
    election::{Input, ShardInput},
    execute::{Context, Origin, Permit},
    history::Cause,
    object::{K8sType, ObjectKey, Uid, Undecodable},
    operator::{Ask, OperatorName},
    plan::ForeignChild,
    related::FeedKey,
    reply::{ApiError, TypeSchema},
    schedule::Trigger,
    store::{Change, StoreReader},
};

/// A note of a watch loop, and which it is.
pub(super) struct Noted<Of> {
    pub(super) of: Of,
    pub(super) note: WatchNote,
}

pub(super) struct SchemaRead {
    pub(super) schema: Arc<TypeSchema>,
}

/// The type of the parents declares another status than before.
#[derive(Clone)]
pub(crate) struct DefinitionChanged {
    pub(crate) ty: K8sType,
}

/// Objects changed: by an event of a watch, a reply or a live read. A reflector receives it, and passes it to the operators.
pub(crate) struct Observed {
    pub(crate) ty: K8sType,
    pub(crate) changes: Arc<[Change]>,
    /// The reconcile that made the write, if it was an own one.
    pub(crate) origin: Option<Origin>,
}

#[derive(Clone)]
pub(crate) struct FoundUndecodable {
    pub(crate) object: Undecodable,
}

#[derive(Clone)]
pub(crate) struct WatchChanged {
    pub(crate) watched: Watched,
    pub(crate) condition: WatchCondition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchCondition {
    /// Its first list is not complete.
    Pending,
    /// Its part of the store is in sync.
    Synced,
    /// It fails for now, and why.
    Failing(String),
    /// It requires manual intervention: a permission is missing, or the type is not served.
    Refused(String),
}

/// A reflector was restarted after a panic: changes may not have been reported.
#[derive(Clone)]
pub(crate) struct ReflectorPanicked {
    pub(crate) why: Arc<str>,
}

/// Objects changed that somebody asks for as related ones.
pub(crate) struct RelatedObserved {
    pub(crate) ty: K8sType,
    pub(crate) changes: Arc<[Change]>,
}

/// Related objects were listed, or it is known why they cannot be.
#[derive(Clone)]
pub(crate) struct RelatedSettled {
    pub(crate) ty: K8sType,
    pub(crate) asks: Arc<[Ask]>,
}

/// Why related objects of a type cannot be read; empty when they can.
#[derive(Clone)]
pub(crate) struct RelatedProblems {
    pub(crate) ty: K8sType,
    pub(crate) reasons: Vec<String>,
}

/// Something else is asked for.
pub(super) struct DemandChanged;

/// The watch of a key that was started with this number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FeedId {
    pub(super) key: FeedKey,
    pub(super) number: u64,
}

/// Related objects changed, as this watch shows.
pub(super) struct FeedChanged {
    pub(super) feed: FeedId,
    pub(super) changes: Arc<[Change]>,
}

/// The objects that a fetch has found.
pub(super) struct Fetched {
    pub(super) feed: FeedId,
    pub(super) asks: Vec<Ask>,
    pub(super) result: Result<Vec<List>, ApiError>,
}

/// A related object of a parent changed.
pub(super) struct RelatedChanged {
    pub(super) ty: K8sType,
    /// The change is one of these.
    pub(super) changes: Arc<[Change]>,
    pub(super) at: usize,
    /// The delay that spreads the reconciles of many parents.
    pub(super) after: Duration,
}

/// The heartbeat that an actor sends to itself.
pub(super) struct Heartbeat;

/// An operator's state changed.
#[derive(Clone)]
pub(crate) struct OperatorStateChanged {
    pub(crate) operator: OperatorName,
    /// `None` when it is gone.
    pub(crate) state: Option<OperatorState>,
}

/// The operator has another configuration, which takes effect when its types are listed.
pub(crate) struct Reconfigured {
    pub(crate) context: Arc<Context>,
    pub(crate) children: Vec<StoreReader>,
    /// The watches that it requires.
    pub(crate) relies_on: BTreeSet<Watched>,
    /// The types of which watches are opened or replaced.
    pub(crate) changed: Vec<K8sType>,
    /// Whether the change concerns all parents, or only those that enter or leave the selection.
    pub(crate) concerns_all: bool,
    /// Is sent to when it has taken effect.
    pub(crate) applied: oneshot::Sender<()>,
}

/// The operator goes, and finalizes its parents first.
pub(super) struct Finalized {
    /// Is sent to when no parent is left.
    pub(super) done: oneshot::Sender<()>,
}

/// The operator goes: its parents get no further reconcile.
pub(super) struct Left;

/// The process works in other buckets than before.
#[derive(Clone)]
pub(crate) struct BucketsChanged;

/// A user sent a request to the web endpoint.
pub(crate) struct Asked {
    pub(crate) request: WebRequest,
}

pub(super) struct PreviewAsked {
    pub(super) answer: Responder<Preview>,
}

pub(super) struct Resumed;

/// Something changed that the parent's next reconcile should see.
pub(super) struct Touched {
    pub(super) trigger: Trigger,
    pub(super) cause: Cause,
}

/// A child of a parent changed, or a foreign object that the parent waits for.
pub(super) struct ChildChanged {
    pub(super) ty: K8sType,
    /// The change is one of these.
    pub(super) changes: Arc<[Change]>,
    pub(super) at: usize,
}

/// The foreign objects that a parent waits for; they replace the previous ones.
pub(super) struct Awaits {
    pub(super) parent: Uid,
    pub(super) foreign: Vec<ForeignChild>,
}

pub(super) struct Admitted {
    pub(super) permit: Permit,
}

pub(super) struct Retire;

/// A reconciler has stopped: on command, or by a panic.
pub(super) struct Ended {
    pub(super) key: ObjectKey,
    pub(super) uid: Uid,
}

/// An answer to a request of an election, or what its watch showed.
pub(crate) struct Answered {
    pub(crate) input: Input,
    /// Why the request failed.
    pub(crate) problem: Option<String>,
}

/// The same for the Leases of a group, or what its caches and buckets report.
pub(crate) struct GroupAnswered {
    pub(crate) input: ShardInput,
    /// Whether the server knows `shardSelector`, if the answer shows it.
    pub(crate) selects_shards: Option<bool>,
    /// Why the request failed.
    pub(crate) problem: Option<String>,
}

impl GroupAnswered {
    /// What needs no answer, or what one says without a problem.
    pub(crate) fn of(input: ShardInput) -> Self {
        Self { input, selects_shards: None, problem: None }
    }
}

/// The process stops: the Lease is given back after the last write. The sender is dropped when that is done.
pub(crate) struct Released {
    #[expect(dead_code, reason = "its end is the message")]
    pub(crate) done: oneshot::Sender<()>,
}

// === changes of objects, which wait in a backlog ===

impl Batch for Observed {
    type Of = (K8sType, Option<Origin>);

    fn split(self) -> (Self::Of, Arc<[Change]>) {
        ((self.ty, self.origin), self.changes)
    }

    fn join((ty, origin): Self::Of, changes: Arc<[Change]>) -> Self {
        Self { ty, changes, origin }
    }
}

impl Batch for RelatedObserved {
    type Of = K8sType;

    fn split(self) -> (Self::Of, Arc<[Change]>) {
        (self.ty, self.changes)
    }

    fn join(ty: Self::Of, changes: Arc<[Change]>) -> Self {
        Self { ty, changes }
    }
}

impl Batch for FeedChanged {
    type Of = FeedId;

    fn split(self) -> (Self::Of, Arc<[Change]>) {
        (self.feed, self.changes)
    }

    fn join(feed: Self::Of, changes: Arc<[Change]>) -> Self {
        Self { feed, changes }
    }
}
