//! Kubernetes Events about some objects, read on demand. Values only.

use super::Responder;
use crate::object::{ObjectEvent, ObjectKey, Uid};

/// An object whose Events are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventSubject {
    pub(crate) key: ObjectKey,
    /// Its uid: an object recreated under the same name is another object.
    pub(crate) uid: Uid,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventReading {
    /// The newest Events about all of the objects, newest first.
    pub(crate) events: Vec<ObjectEvent>,
    /// The minimum number of further Events.
    pub(crate) omitted: usize,
    /// The number of objects that were not asked about or got no answer in time.
    pub(crate) objects_omitted: usize,
    /// Why Events could not be read, each reason once.
    pub(crate) errors: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct EventRequest {
    pub(crate) operator: String,
    /// The objects, most important first.
    pub(crate) about: Vec<EventSubject>,
    pub(crate) answer: Responder<EventReading>,
}
