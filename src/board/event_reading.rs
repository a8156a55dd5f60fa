//! What Kubernetes tells of some objects now, asked for by somebody who looks. Values only.

use super::Answer;
use crate::object::{ObjectEvent, ObjectKey, Uid};

/// An object about which somebody wants to read the Events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSubject {
    /// What it is called.
    pub key: ObjectKey,
    /// Its uid: a namesake is another object.
    pub uid: Uid,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventReading {
    /// The newest Events about all of the objects, the newest first.
    pub events: Vec<ObjectEvent>,
    /// How many more there are at least.
    pub omitted: usize,
    /// About how many objects nobody asked, or got no answer in time.
    pub objects_omitted: usize,
    /// Why something could not be read, each reason once.
    pub errors: Vec<String>,
}

/// The question on its way.
#[derive(Debug)]
pub struct EventRequest {
    /// In whose name is asked.
    pub operator: String,
    /// About what; the first are the most urgent.
    pub about: Vec<EventSubject>,
    /// The way back.
    pub answer: Answer<EventReading>,
}
