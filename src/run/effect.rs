//! The events that a machine processes, and the effects that it returns.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde_json::Value;

use super::{Answer, Request};
use crate::{
    journal::Failure,
    object::{K8sType, Object, Uid},
    operator::{
        Allowance, Asks, DecoratorResponse, FinalizeResponse, HandlerEvent, Related, SyncRequest,
    },
    plan::{ChildId, Exceeded, Plan, Reservation},
    related::FoundRelated,
    reply::{ApiError, TypeSchema},
};

pub(crate) type RequestId = u32;

/// An input of a machine.
#[derive(Debug)]
pub(crate) enum Event {
    Started(Aim),
    HandlerReturned(Result<Response, HandlerError>),
    /// The deadline of the handler has passed; it may still return.
    HandlerTimeout(Duration),
    Answered(RequestId, Answer),
    /// Deletions were reserved from the operator's budget, or exceed it.
    Reserved(Result<Reservation, Exceeded>),
    /// The related objects were looked up in the caches.
    RelatedRead(FoundRelated),
    /// All effects of the last step were performed, as [`Effect::Resume`] asked.
    Resumed,
    /// The schema of the parents was read; `None` until the server publishes it.
    SchemaRead(Result<Option<Arc<TypeSchema>>, ApiError>),
}

#[derive(Debug)]
pub(crate) enum Aim {
    /// Brings the parent one step closer to its desired state.
    Reconcile,
    /// Shows what that would do, and sends no request: for the cached parent, or for another version of it.
    Plan(Option<Object>),
}

#[derive(Debug, Default)]
pub(crate) struct Previewed {
    /// The plan, as if no other manager owned fields of the children: it shows the desired state.
    pub(crate) plan: Plan,
    /// The children that would not be written because other managers own fields of them, with the reason.
    pub(crate) contested: BTreeMap<ChildId, String>,
    /// The merge patch with the finalizers and the status fields that the parent would get; `None` if none differs.
    pub(crate) parent: Option<Value>,
    /// The related objects that are being listed, without which there is no plan.
    pub(crate) pending: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Response {
    /// The related objects that the handler reads for the parent.
    Related(Related),
    Synced(DecoratorResponse),
    Finalized(FinalizeResponse),
}

/// A failed call, with the status and the valid Events that the handler returned for it.
pub(crate) struct HandlerError {
    pub(crate) failure: Failure,
    pub(crate) status: Option<Value>,
    pub(crate) events: Vec<HandlerEvent>,
}

/// An effect that a machine asks for.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Call the handler: [`Event::HandlerReturned`] follows, after [`Event::HandlerTimeout`] if it is late.
    Call(Method, SyncRequest),
    /// Send a request: [`Event::Answered`] follows.
    Send(RequestId, Request),
    /// Ask for these related objects of a parent. Its earlier asks end.
    Ask(Uid, Asks),
    /// Look these related objects up: [`Event::RelatedRead`] follows.
    ReadRelated(Asks),
    Cache(Cache),
    Reserve(Allowance, usize),
    Release(Reservation, usize),
    /// Read the schemas of these types, and that of the parents: [`Event::SchemaRead`] follows.
    ReadSchema(Vec<K8sType>),
    /// Perform all other effects of this step: [`Event::Resumed`] follows, with a snapshot that includes
    /// them.
    Resume,
    /// Report a failure while the reconcile continues.
    ShowNow(Failure),
    Finished,
}

/// The method of the handler to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Which related objects are read.
    Related,
    Sync,
    Finalize,
}

/// A change of the cache by a reply. It is applied at once and wakes the parents concerned: a reconcile reads
/// its own writes.
#[derive(Debug, Clone)]
pub(crate) enum Cache {
    /// The reply to an own write; does not wake the own parent.
    Wrote(Object),
    /// An object that was read live. It includes changes by others, whose watch events will be ignored as
    /// outdated.
    Saw(Object),
    /// An own deletion; does not wake the own parent.
    Deleted(ChildId, Uid),
    /// A deletion by someone else.
    Absent(ChildId, Uid),
}

impl From<Failure> for HandlerError {
    fn from(failure: Failure) -> Self {
        Self { failure, status: None, events: Vec::new() }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandlerError({})", self.failure)
    }
}
