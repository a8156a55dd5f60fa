//! What a simulated controller decides: writes, and when to look again. Values only.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::object::text;

/// An object as it was observed: a write to a later state of it is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// `group/version`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, or empty.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// The resource version.
    pub version: String,
}

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Write {
    /// Creates an object.
    Create(Value),
    /// Creates a Pod of a workload, and records that.
    Spawn {
        /// The workload.
        owner: Target,
        /// Who records it.
        source: &'static str,
        /// The Pod.
        pod: Value,
    },
    /// Changes an object, but not its status, by a merge patch.
    Patch(Target, Value),
    /// Replaces the status of an object, and changes annotations of it.
    Status(Target, Value, Map<String, Value>),
    /// Deletes an object, a Pod gracefully.
    Delete(Target),
    /// Ends a Pod that has stopped.
    End(Target),
    /// Assigns a Pod to the node.
    Bind(Target),
    /// Records an Event.
    Record(Notice),
}

/// An Event about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    /// The object.
    pub about: Target,
    /// `Normal` or `Warning`.
    pub kind: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// Who records it.
    pub source: &'static str,
}

/// What to do about one object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Decision {
    /// The writes, in their order. A later one is not made if an earlier one changed its object.
    pub writes: Vec<Write>,
    /// When to look at the object again, if nothing changes before.
    pub again: Option<Timestamp>,
}

impl Target {
    /// The object as it is.
    pub(super) fn of(object: &Value) -> Self {
        let metadata = |field: &str| text(&object["metadata"][field]).to_owned();
        Self {
            api_version: text(&object["apiVersion"]).to_owned(),
            kind: text(&object["kind"]).to_owned(),
            namespace: metadata("namespace"),
            name: metadata("name"),
            uid: metadata("uid"),
            version: metadata("resourceVersion"),
        }
    }
}

impl Decision {
    /// Adds a write.
    pub(super) fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// Changes an object by a merge patch.
    pub(super) fn patch(&mut self, object: &Value, patch: Value) {
        self.write(Write::Patch(Target::of(object), patch));
    }

    /// Creates a Pod of a workload.
    pub(super) fn spawn(&mut self, owner: &Value, source: &'static str, pod: Value) {
        self.write(Write::Spawn { owner: Target::of(owner), source, pod });
    }

    /// Deletes an object.
    pub(super) fn delete(&mut self, object: &Value) {
        self.write(Write::Delete(Target::of(object)));
    }

    /// Writes a status if it is another one.
    pub(super) fn status(&mut self, object: &Value, status: Value) {
        self.status_and_annotations(object, status, Map::new());
    }

    /// Writes a status, and annotations with it: that does not change the generation of the object.
    pub(super) fn status_and_annotations(
        &mut self,
        object: &Value,
        status: Value,
        annotations: Map<String, Value>,
    ) {
        let present = &object["metadata"]["annotations"];
        let is_new = |(key, value): (&String, &Value)| present[key] != *value;
        if object["status"] != status || annotations.iter().any(is_new) {
            self.write(Write::Status(Target::of(object), status, annotations));
        }
    }

    /// Records an Event of type `Normal`.
    pub(super) fn record(
        &mut self,
        object: &Value,
        source: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        let (about, message) = (Target::of(object), message.into());
        self.write(Write::Record(Notice { about, kind: "Normal", reason, message, source }));
    }

    /// Records an Event of type `Warning`.
    pub(super) fn warn(
        &mut self,
        object: &Value,
        source: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        let (about, message) = (Target::of(object), message.into());
        self.write(Write::Record(Notice { about, kind: "Warning", reason, message, source }));
    }

    /// Looks again at a time, or earlier if that was decided already.
    pub(super) fn look_at(&mut self, time: Timestamp) {
        self.again = Some(self.again.map_or(time, |again| again.min(time)));
    }

    /// Whether so many seconds have passed; if not, looks again when they have.
    pub(super) fn has_passed(
        &mut self,
        since: Timestamp,
        wait: SignedDuration,
        now: Timestamp,
    ) -> bool {
        let due = since.checked_add(wait).unwrap_or(Timestamp::MAX);
        if due > now {
            self.look_at(due);
        }
        due <= now
    }
}
