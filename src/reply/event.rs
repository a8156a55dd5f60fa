//! Kubernetes Events, as they are to be sent.

use std::time::SystemTime;

use crate::object::{K8sType, Object, ObjectKey, Uid};

/// Whether an Event reports trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// All is well.
    Normal,
    /// Somebody should look.
    Warning,
}

/// Something that happened to a parent, for `kubectl describe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentEvent {
    /// Whether it reports trouble.
    pub kind: EventKind,
    /// One `CamelCase` word.
    pub reason: String,
    /// A sentence; cut at 1,000 bytes, as the API demands.
    pub message: String,
    /// What tells its name from those of other Events about the same parent.
    pub name: u64,
    /// How often it happened by now.
    pub count: u32,
    /// When it last happened: it may be told later.
    pub at: SystemTime,
}

/// What an Event is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Regarding {
    /// Its type.
    pub ty: K8sType,
    /// What it is called.
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
