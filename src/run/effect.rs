//! What a machine is told, and what it orders.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;

use super::{Answer, Request};
use crate::{
    journal::Failure,
    object::{Object, Uid},
    operator::{Allowance, FinalizeResponse, SyncRequest, SyncResponse},
    plan::{ChildId, Exceeded, Reservation},
    reply::{ApiError, TypeSchema},
};

/// Which request an answer belongs to.
pub type RequestId = u32;

/// A fact that a machine is told.
#[derive(Debug)]
pub enum Event {
    /// The reconcile begins.
    Started(Aim),
    /// The handler returned, panicked, or was overdue and is back.
    HandlerReturned(Result<Response, HandlerError>),
    /// The deadline of the handler has passed; it may still return.
    HandlerTimeout(Duration),
    /// A request was answered, or was not.
    Answered(RequestId, Answer),
    /// Deletions were taken from the operator's budget, or were too many.
    Reserved(Result<Reservation, Exceeded>),
    /// All orders of the last step were carried out, as [`Effect::Resume`] asked.
    Resumed,
    /// The schema of the parents was read; `None` while the server has yet to publish it.
    SchemaRead(Result<Option<Arc<TypeSchema>>, ApiError>),
}

/// What comes of a reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// The parent is brought one step closer to what its handler wants.
    Reconcile,
    /// It is shown what that would do: no request is sent.
    Plan,
}

/// What a handler returned.
#[derive(Debug)]
pub enum Response {
    /// Of `sync`.
    Synced(SyncResponse),
    /// Of `finalize`.
    Finalized(FinalizeResponse),
}

/// A call that failed, with the status that the handler wants to show because of it.
pub struct HandlerError {
    /// Why.
    pub failure: Failure,
    /// The status.
    pub status: Option<Value>,
}

/// An order of a machine.
pub enum Effect {
    /// Call the handler: [`Event::HandlerReturned`] follows, after [`Event::HandlerTimeout`] if it is late.
    Call(Purpose, SyncRequest),
    /// Send a request: [`Event::Answered`] follows.
    Send(RequestId, Request),
    /// Change the cache.
    Cache(Cache),
    /// Take deletions from the operator's budget: [`Event::Reserved`] follows.
    Reserve(Allowance, usize),
    /// Give back what was taken and not deleted.
    Release(Reservation, usize),
    /// Read the schema of the parents: [`Event::SchemaRead`] follows.
    ReadSchema,
    /// Carry out all other orders of this step: [`Event::Resumed`] follows, with a snapshot that shows them.
    Resume,
    /// Show a failure while the reconcile continues.
    ShowNow(Failure),
    /// Nothing more is to come.
    Finished,
}

/// What the handler is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What should exist.
    Sync,
    /// The end of the parent.
    Finalize,
}

/// What requests have shown enters the cache at once, and those whom it concerns are woken: a reconcile
/// reads its own writes.
#[derive(Debug, Clone)]
pub enum Cache {
    /// The reply to a write of ours: the parent itself knows.
    Wrote(Object),
    /// What was read live: what others changed is in it, and its event will be ignored as old.
    Saw(Object),
    /// We deleted it: the parent itself knows.
    Deleted(ChildId, Uid),
    /// Others deleted it.
    Absent(ChildId, Uid),
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandlerError({})", self.failure)
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(purpose, _) => write!(f, "Call({purpose:?})"),
            Self::Send(id, request) => write!(f, "Send({id}, {request:?})"),
            Self::Cache(cache) => cache.fmt(f),
            Self::Reserve(_, deletions) => write!(f, "Reserve({deletions})"),
            Self::Release(_, deleted) => write!(f, "Release({deleted} deleted)"),
            Self::ReadSchema => f.write_str("ReadSchema"),
            Self::Resume => f.write_str("Resume"),
            Self::ShowNow(failure) => write!(f, "ShowNow({})", failure.reason()),
            Self::Finished => f.write_str("Finished"),
        }
    }
}
