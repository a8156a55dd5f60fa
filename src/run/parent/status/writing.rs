//! The contents of a status, what its write waits for, and what is next: values only.

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{
    journal::RequestFailure,
    object::Object,
    operator::{ChildStatus, Condition},
    plan::StatusPatch,
    reply::{ApiError, TypeSchema},
    report::Over,
    run::{drift::rival::Search, turn::Next},
};

#[derive(Debug, Clone)]
pub(in crate::run) struct WantedStatus {
    pub(in crate::run) handler: Option<ReturnedStatus>,
    pub(in crate::run) conditions: Vec<Condition>,
    /// The status of the children, if it is enabled and known.
    pub(in crate::run) children: Option<Vec<ChildStatus>>,
    pub(in crate::run) over: Over,
}

/// A status that a handler returned. `Debug` does not show it.
#[derive(Clone)]
pub(in crate::run) struct ReturnedStatus(pub(in crate::run) Value);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum StatusPart {
    /// The whole status, at the end of a reconcile.
    Whole,
    /// Only the conditions, after the whole status was refused.
    Conditions,
    /// Only the conditions, while a handler is past its deadline.
    HandlerTimeout,
}

#[derive(Debug)]
pub(in crate::run) struct Writing {
    pub(super) part: StatusPart,
    pub(super) wanted: WantedStatus,
    /// A hash of the desired status, and whether someone has changed the parent since it was written.
    pub(super) desired: u64,
    pub(super) is_contested: bool,
    /// The parent as the handler read it.
    pub(super) seen: Object,
    pub(super) attempt: usize,
    /// The refusal of the whole status, if only the conditions are written.
    pub(super) refused: Option<RequestFailure>,
    /// Whether the reconcile had failed before.
    pub(super) had_failed: bool,
}

#[derive(Debug)]
pub(in crate::run) enum AwaitedStatus {
    FindRival(Search, Writing),
    Patched(Patching),
    Looking(Patching, ApiError),
}

#[derive(Debug)]
pub(in crate::run) struct Patching {
    pub(super) writing: Writing,
    pub(super) schema: Arc<TypeSchema>,
    pub(super) parent: Object,
    pub(super) patch: StatusPatch,
    pub(super) change: u64,
}

/// What follows when no request is sent.
#[derive(Debug)]
pub(in crate::run) enum StatusEnd {
    ReadSchema(Box<Writing>),
    /// The whole status was refused: the conditions are written next.
    Conditions(RequestFailure, bool),
    Over,
}

pub(in crate::run) type StatusNext = Next<Box<AwaitedStatus>, StatusEnd>;

impl fmt::Debug for ReturnedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReturnedStatus")
    }
}
