//! Requests to the API server as values, and what comes back.

use std::fmt;

use serde_json::Value;

use crate::{
    object::{K8sType, Object, ResourceVersion, Uid},
    operator::Propagation,
    plan::ChildId,
    reply::{ApiError, Deleted},
};

/// A request to the API server. `Debug` does not show what is sent.
#[derive(Clone)]
pub enum Request {
    /// Read an object live, as the caches want it.
    Read(ChildId),
    /// Read an object live, with all its fields.
    ReadWhole(ChildId),
    /// Server-side apply.
    Apply {
        /// The object.
        id: ChildId,
        /// What to apply; it says whether it may create or update.
        body: Value,
        /// Whether fields of others are taken.
        force: Force,
        /// Whether it is only tried.
        dry_run: DryRun,
    },
    /// Merge patch of an object.
    Patch(ChildId, Value),
    /// Merge patch of the status of an object.
    PatchStatus(ChildId, Value),
    /// Delete exactly this version of this object.
    Delete {
        /// The object.
        id: ChildId,
        /// Its uid.
        uid: Uid,
        /// Its version.
        version: ResourceVersion,
        /// What becomes of what it owns.
        propagation: Propagation,
    },
    /// List what has a label.
    List {
        /// The type.
        ty: K8sType,
        /// The namespace; `None` for all.
        namespace: Option<String>,
        /// The label selector.
        selector: String,
    },
}

/// Whether fields that others hold are taken from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// They are.
    Yes,
    /// They are not: the server refuses.
    No,
}

/// Whether an apply is only tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    /// It is carried out.
    No,
    /// The server answers what it would be.
    Yes,
    /// The same of an object that does not exist: what was never stored has no version.
    OfNew,
}

/// What a request came to.
pub type Answer = Result<Reply, ApiError>;

/// A reply of the API server. `Debug` shows no content.
#[derive(Debug, Clone)]
pub enum Reply {
    /// What was read.
    Object(Option<Object>),
    /// The same with all its fields.
    Whole(Option<Whole>),
    /// What a write left.
    Written(Object),
    /// What a deletion left.
    Deleted(Deleted),
    /// What was listed.
    Listed(Vec<Object>),
}

/// An object with all its fields; `Debug` shows none.
#[derive(Clone)]
pub struct Whole(pub Value);

impl Request {
    /// A server-side apply that is carried out.
    pub fn apply(id: &ChildId, body: &Value, force: Force) -> Self {
        Self::Apply { id: id.clone(), body: body.clone(), force, dry_run: DryRun::No }
    }

    /// The same as a dry run.
    pub fn trial(id: &ChildId, body: &Value, force: Force) -> Self {
        Self::Apply { id: id.clone(), body: body.clone(), force, dry_run: DryRun::Yes }
    }

    /// Verb and object.
    fn name(&self) -> String {
        match self {
            Self::Read(id) => format!("read {id}"),
            Self::ReadWhole(id) => format!("read all of {id}"),
            Self::Apply { id, dry_run: DryRun::No, .. } => format!("apply {id}"),
            Self::Apply { id, .. } => format!("try to apply {id}"),
            Self::Patch(id, _) => format!("patch {id}"),
            Self::PatchStatus(id, _) => format!("patch the status of {id}"),
            Self::Delete { id, .. } => format!("delete {id}"),
            Self::List { ty, .. } => format!("list {ty}"),
        }
    }
}

/// A reply of another kind than the request asks for is one of nothing that was asked.
fn mismatch(expected: &str) -> ApiError {
    ApiError::Malformed { request: expected.to_owned(), why: "another kind of reply".to_owned() }
}

impl Reply {
    /// What was read.
    pub fn object(answer: Answer) -> Result<Option<Object>, ApiError> {
        match answer? {
            Self::Object(object) => Ok(object),
            _ => Err(mismatch("an object")),
        }
    }

    /// What was read, with all its fields.
    pub fn whole(answer: Answer) -> Result<Option<Value>, ApiError> {
        match answer? {
            Self::Whole(whole) => Ok(whole.map(|whole| whole.0)),
            _ => Err(mismatch("a whole object")),
        }
    }

    /// What a write left.
    pub fn written(answer: Answer) -> Result<Object, ApiError> {
        match answer? {
            Self::Written(object) => Ok(object),
            _ => Err(mismatch("a written object")),
        }
    }

    /// What a deletion left.
    pub fn deleted(answer: Answer) -> Result<Deleted, ApiError> {
        match answer? {
            Self::Deleted(deleted) => Ok(deleted),
            _ => Err(mismatch("a deletion")),
        }
    }

    /// What was listed.
    pub fn listed(answer: Answer) -> Result<Vec<Object>, ApiError> {
        match answer? {
            Self::Listed(objects) => Ok(objects),
            _ => Err(mismatch("a list")),
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Whole")
    }
}
