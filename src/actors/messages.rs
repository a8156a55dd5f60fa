//! The messages between actors: facts in the past tense, and the command `Retire`.

use std::sync::Arc;

use actix::Message;

use super::mailbox::MeteredMessage;

use crate::{
    board::{Answer, OperatorState, Preview, WebRequest},
    cluster::{WatchNote, Watched},
    execute::{Origin, Permit},
    history::Cause,
    object::{K8sType, ObjectKey, SecretFields, Uid, Undecodable},
    operator::OperatorName,
    plan::ForeignChild,
    schedule::Trigger,
    store::Change,
};

/// A watch loop sent a note to its reflector.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Noted {
    /// Which of the reflector's scopes.
    pub(super) scope: usize,
    pub(super) note: WatchNote,
}

/// The schema of a type was read.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct SchemaRead {
    pub(super) secrets: SecretFields,
}

/// A reply to an own write, or a live read, changed a store.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Published {
    /// The change.
    pub(crate) change: Change,
    /// The reconcile that made the write, if it was an own one.
    pub(crate) origin: Option<Origin>,
}

/// Objects of a type changed.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub(crate) struct Observed {
    /// The type.
    pub(crate) ty: K8sType,
    /// The changes, shared by all recipients.
    pub(crate) changes: Arc<[Change]>,
    /// The reconcile that made the write, if it was an own one.
    pub(crate) origin: Option<Origin>,
}

/// A version of an object could not be decoded.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub(crate) struct FoundUndecodable {
    /// What is known of it.
    pub(crate) object: Undecodable,
}

/// The condition of a watch changed.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub(crate) struct WatchChanged {
    /// Which watch.
    pub(crate) watched: Watched,
    /// Its condition.
    pub(crate) condition: WatchCondition,
}

/// The condition of a watch.
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

/// The heartbeat that an actor sends to itself.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Turn;

/// An operator's state changed.
#[derive(Debug, Clone)]
pub(crate) struct OperatorStateChanged {
    /// The operator's name.
    pub(crate) operator: OperatorName,
    /// Its state.
    pub(crate) state: OperatorState,
}

/// A user sent a request to the web endpoint.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Asked {
    /// The request, with the channel for its answer.
    pub(crate) request: WebRequest,
}

/// A preview of the next reconcile was requested.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct PreviewAsked {
    pub(super) answer: Answer<Preview>,
}

/// The operator is no longer paused.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Resumed;

/// Something changed that the parent's next reconcile should see.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Touched {
    pub(super) trigger: Trigger,
    pub(super) cause: Cause,
}

/// A child of a parent changed, or a foreign object that the parent waits for.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct ChildChanged {
    pub(super) ty: K8sType,
    /// The change is one of these.
    pub(super) changes: Arc<[Change]>,
    pub(super) at: usize,
}

/// The foreign objects that a parent waits for; they replace the previous ones.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Awaits {
    pub(super) parent: Uid,
    pub(super) foreign: Vec<ForeignChild>,
}

/// A parent in the queue got its permit.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Admitted {
    pub(super) permit: Permit,
}

/// The parent was deleted: the command to stop.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Retire;

/// A reconciler has stopped: on command, or by a panic.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Ended {
    pub(super) key: ObjectKey,
    pub(super) uid: Uid,
}

impl MeteredMessage for Awaits {}
impl MeteredMessage for ChildChanged {}
impl MeteredMessage for Noted {}
impl MeteredMessage for SchemaRead {}
impl MeteredMessage for Published {}
impl MeteredMessage for Observed {}
impl MeteredMessage for FoundUndecodable {}
impl MeteredMessage for WatchChanged {}
impl MeteredMessage for Turn {}
impl MeteredMessage for Asked {}
impl MeteredMessage for PreviewAsked {}
impl MeteredMessage for Resumed {}
impl MeteredMessage for Touched {}
impl MeteredMessage for Admitted {}
impl MeteredMessage for Retire {}
impl MeteredMessage for Ended {}
