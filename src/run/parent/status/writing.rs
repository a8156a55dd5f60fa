//! What a status is to say, what its writing waits for, and what is next: values only.

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{
    journal::RequestFailure,
    object::Object,
    operator::{ChildStatus, Condition},
    plan::StatusPatch,
    reply::{ApiError, TypeSchema},
    run::{drift::rival::Search, request::Request},
};

/// What a status is to say.
#[derive(Debug, Clone)]
pub(in crate::run) struct Wanted {
    /// What the handler returned.
    pub(in crate::run) handler: Option<Returned>,
    pub(in crate::run) conditions: Vec<Condition>,
    /// What is said of the children, where that is asked for and known.
    pub(in crate::run) children: Option<Vec<ChildStatus>>,
    /// Whether it is known that no deletions are held.
    pub(in crate::run) holds_none: bool,
}

/// A status that a handler returned. `Debug` does not show it.
#[derive(Clone)]
pub(in crate::run) struct Returned(pub(in crate::run) Value);

/// How much of the status is said, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Scope {
    /// All of it, at the end of a reconcile.
    Whole,
    /// Only the conditions, as all of it was refused.
    Conditions,
    /// Only the conditions, while a handler is overdue.
    Overdue,
}

/// A status that is being written.
#[derive(Debug)]
pub(in crate::run) struct Writing {
    pub(super) scope: Scope,
    pub(super) wanted: Wanted,
    /// What it is to say, as a number; and whether it was so written before, and somebody else has changed
    /// the parent since.
    pub(super) wish: u64,
    pub(super) is_contested: bool,
    /// The parent as the handler read it.
    pub(super) seen: Object,
    pub(super) attempt: usize,
    /// Why all of it was not written, where only the conditions are.
    pub(super) refused: Option<RequestFailure>,
    /// Whether the reconcile had failed before.
    pub(super) had_failed: bool,
}

/// What is waited for.
#[derive(Debug)]
pub(in crate::run) enum State {
    FindRival(Search, Writing),
    Patched(Patching),
    Looking(Patching, ApiError),
}

/// A patch that was sent.
#[derive(Debug)]
pub(in crate::run) struct Patching {
    pub(super) writing: Writing,
    pub(super) schema: Arc<TypeSchema>,
    pub(super) parent: Object,
    pub(super) patch: StatusPatch,
    pub(super) change: u64,
}

/// What is next.
#[derive(Debug)]
pub(in crate::run) enum Next {
    Ask(Request, Box<State>),
    ReadSchema(Box<Writing>),
    /// All of it was refused: only the conditions are to be said.
    Conditions(RequestFailure, bool),
    Done,
}

impl fmt::Debug for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Returned")
    }
}
