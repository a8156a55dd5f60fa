//! What actors tell each other: facts in the past tense, and one order to end.

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

/// A watch loop has something to say to its reflector.
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

/// A reply to a write of ours, or a live read, changed a store.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Published {
    /// The change.
    pub change: Change,
    /// Whose write it was, if it was one of ours.
    pub origin: Option<Origin>,
}

/// Objects of a type changed.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Observed {
    /// The type.
    pub ty: K8sType,
    /// The changes, shared by all who are told.
    pub changes: Arc<[Change]>,
    /// Whose write it was, if it was one of ours.
    pub origin: Option<Origin>,
}

/// An object, or a version of it, turned out to be one that cannot be read.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct FoundUndecodable {
    /// What can be told of it.
    pub object: Undecodable,
}

/// A watch can be relied on, or not.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct WatchChanged {
    /// Which watch.
    pub watched: Watched,
    /// How it stands.
    pub condition: WatchCondition,
}

/// How a watch stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchCondition {
    /// Its first list has not come yet.
    Pending,
    /// Its part of the store is in sync.
    Synced,
    /// It cannot be watched for now, and why.
    Failing(String),
    /// It cannot be watched until a person mends that: we may not, or the server has no such type.
    Refused(String),
}

/// Whether an actor turns over: it sends this to itself.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Turn;

/// An operator's state changed.
#[derive(Debug, Clone)]
pub struct OperatorStateChanged {
    /// The operator's name.
    pub operator: OperatorName,
    /// Its state.
    pub state: OperatorState,
}

/// A person ordered or asked something.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Asked {
    /// What, and the way back.
    pub request: WebRequest,
}

/// Somebody wants to know what a reconcile would do.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct PreviewAsked {
    pub(super) answer: Answer<Preview>,
}

/// The operator is no longer paused.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Resumed;

/// Something that a parent's next reconcile should see has changed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Touched {
    pub(super) trigger: Trigger,
    pub(super) cause: Cause,
}

/// A child of a parent changed, or an object that the parent waits for.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct ChildChanged {
    pub(super) ty: K8sType,
    /// The change is one of these.
    pub(super) changes: Arc<[Change]>,
    pub(super) at: usize,
}

/// A parent waits for these objects of others from now on, and for none that it waited for before.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Awaits {
    pub(super) parent: Uid,
    pub(super) foreign: Vec<ForeignChild>,
}

/// The place that a parent has waited for is free.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Admitted {
    pub(super) permit: Permit,
}

/// The parent is gone: an order to end.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Retire;

/// A reconciler has ended: because it was ordered to, or by a defect.
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
