//! Kubernetes Events, as they are to be sent.

use std::time::SystemTime;

use crate::object::{K8sType, Object, ObjectKey, Uid};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// Nothing is wrong.
    Normal,
    /// Something is wrong.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentEvent {
    pub(crate) kind: EventKind,
    /// One `CamelCase` word.
    pub(crate) reason: String,
    /// The message; cut at 1,024 bytes, as the API demands.
    pub(crate) message: String,
    /// The hash in its name.
    pub(crate) name: u64,
    pub(crate) count: u32,
    /// When it last happened; it may be sent later.
    pub(crate) at: SystemTime,
    pub(crate) if_known: IfKnown,
}

/// What happens to a new Event whose name the server knows already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfKnown {
    /// It stays as it is: an earlier request created it, and its answer was lost, or an earlier process did.
    Keep,
    /// It happened again.
    CountUp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Regarding {
    pub(crate) ty: K8sType,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Option<Uid>,
}

impl From<&Object> for Regarding {
    fn from(object: &Object) -> Self {
        let (ty, key) = (object.ty().clone(), object.key().clone());
        Self { ty, key, uid: Some(object.uid().clone()) }
    }
}
