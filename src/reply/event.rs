//! Kubernetes Events, as they are to be sent.

use std::time::SystemTime;

use crate::object::{K8sType, Object, ObjectKey, Uid};

/// The type of an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Nothing is wrong.
    Normal,
    /// Something is wrong.
    Warning,
}

/// An Event about a parent, for `kubectl describe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentEvent {
    /// Normal or Warning.
    pub kind: EventKind,
    /// One `CamelCase` word.
    pub reason: String,
    /// The message; cut at 1,000 bytes, as the API demands.
    pub message: String,
    /// The hash in its name.
    pub name: u64,
    /// The count.
    pub count: u32,
    /// When it last happened; it may be sent later.
    pub at: SystemTime,
}

/// The object of an Event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Regarding {
    /// Its type.
    pub ty: K8sType,
    /// Its key.
    pub key: ObjectKey,
    /// Its uid, if that is known.
    pub uid: Option<Uid>,
}

impl From<&Object> for Regarding {
    fn from(object: &Object) -> Self {
        let (ty, key) = (object.ty().clone(), object.key().clone());
        Self { ty, key, uid: Some(object.uid().clone()) }
    }
}
