//! Requests to the API server as values, and their replies.

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
pub(crate) enum Request {
    Read(ChildId),
    /// Read an object live, with all its fields.
    ReadWhole(ChildId),
    Apply {
        id: ChildId,
        body: Value,
        force: Force,
        dry_run: DryRun,
    },
    Patch(ChildId, Value),
    PatchStatus(ChildId, Value),
    /// A server-side apply on the status.
    ApplyStatus {
        id: ChildId,
        body: Value,
        force: Force,
    },
    /// Scale exactly this version of an object.
    Scale {
        id: ChildId,
        version: ResourceVersion,
        replicas: i32,
    },
    /// Delete exactly this version of this object.
    Delete {
        id: ChildId,
        uid: Uid,
        version: ResourceVersion,
        propagation: Propagation,
    },
    List {
        ty: K8sType,
        /// The namespace; `None` for all.
        namespace: Option<String>,
        selector: String,
    },
}

impl Request {
    /// The object that it changes; none for a read and a dry run.
    pub(crate) fn written(&self) -> Option<&ChildId> {
        match self {
            Self::Read(_)
            | Self::ReadWhole(_)
            | Self::List { .. }
            | Self::Apply { dry_run: DryRun::Yes | DryRun::OfNew, .. } => None,
            Self::Apply { id, .. }
            | Self::Patch(id, _)
            | Self::PatchStatus(id, _)
            | Self::ApplyStatus { id, .. }
            | Self::Scale { id, .. }
            | Self::Delete { id, .. } => Some(id),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    Yes,
    /// Do not: the server answers with a conflict.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DryRun {
    No,
    Yes,
    /// A dry run of an object that does not exist and so has no version.
    OfNew,
}

pub(crate) type Answer = Result<Reply, ApiError>;

/// A reply of the API server. `Debug` shows no content.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// The object that was read.
    Object(Option<Object>),
    Whole(Option<Whole>),
    Written(Object),
    Scaled,
    Deleted(Deleted),
    Listed(Vec<Object>),
}

/// An object with all its fields; `Debug` shows none.
#[derive(Clone)]
pub(crate) struct Whole(pub(crate) Value);

impl Request {
    /// A server-side apply that is carried out.
    pub(crate) fn apply(id: &ChildId, body: &Value, force: Force) -> Self {
        Self::Apply { id: id.clone(), body: body.clone(), force, dry_run: DryRun::No }
    }

    /// The same as a dry run.
    pub(crate) fn dry_run(id: &ChildId, body: &Value, force: Force) -> Self {
        Self::Apply { id: id.clone(), body: body.clone(), force, dry_run: DryRun::Yes }
    }

    /// What it does with its object.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::ReadWhole(_) => "read all of",
            Self::Apply { dry_run: DryRun::No, .. } => "apply",
            Self::Apply { .. } => "dry-run apply",
            Self::Patch(..) => "patch",
            Self::ApplyStatus { .. } => "apply the status of",
            Self::PatchStatus(..) => "patch the status of",
            Self::Scale { .. } => "scale",
            Self::Delete { .. } => "delete",
            Self::List { .. } => "list",
        }
    }

    /// Its object, or its type.
    pub(crate) fn object(&self) -> &dyn fmt::Display {
        match self {
            Self::Read(id)
            | Self::ReadWhole(id)
            | Self::Apply { id, .. }
            | Self::Patch(id, _)
            | Self::ApplyStatus { id, .. }
            | Self::PatchStatus(id, _)
            | Self::Scale { id, .. }
            | Self::Delete { id, .. } => id,
            Self::List { ty, .. } => ty,
        }
    }
}

/// Declares a function for each kind of reply, which returns its content, or an error for another kind.
macro_rules! replies {
    ($($name:ident: $kind:ident($content:ty) = $expected:literal;)*) => {
        impl Reply {
            $(pub(crate) fn $name(answer: Answer) -> Result<$content, ApiError> {
                match answer? {
                    Self::$kind(content) => Ok(content),
                    _ => Err(mismatch($expected)),
                }
            })*
        }
    };
}

replies! {
    object: Object(Option<Object>) = "an object";
    whole: Whole(Option<Whole>) = "a whole object";
    written: Written(Object) = "a written object";
    deleted: Deleted(Deleted) = "a deletion";
    listed: Listed(Vec<Object>) = "a list";
}

fn mismatch(expected: &str) -> ApiError {
    ApiError::Malformed { request: expected.to_owned(), why: "another kind of reply".to_owned() }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb(), self.object())
    }
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Whole")
    }
}
