//! The decisions of a reconcile about a child, and the writes: values only.

use schemars::JsonSchema;
use serde::Serialize;

use super::wire;
use crate::object::ResourceVersion;

/// A decision about a child that was not up to date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decision {
    /// Type and key of the child, as far as it has a name.
    #[schemars(with = "String")]
    pub(crate) child: Box<str>,
    /// What was decided.
    #[serde(rename = "decision")]
    pub what: Decided,
    /// The JSON paths that differed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<String>,
    /// What it waits for, the conflict, or the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) why: Option<Box<str>>,
    /// The change by someone else that was reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<Box<Drift>>,
}

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Decided {
    /// Its write or deletion failed.
    Failed,
    /// It is not written because the object, or fields of it, belong to someone else.
    Conflict,
    /// The handler returned an invalid child, so that its whole response was refused.
    Refused,
    /// It waits.
    Waiting,
    /// It differs and is not written: by its policy, a pause, or the limit on deletions.
    Held,
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// An existing object became a child.
    Adopted,
    /// It was deleted, to be recreated.
    Recreated,
    /// It was deleted.
    Deleted,
    /// It was written, which changed nothing.
    Unchanged,
}

/// One write of a child that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WriteRecord {
    /// Type and key of the child.
    pub(crate) child: String,
    /// What was done.
    pub(crate) verb: Verb,
    /// The JSON paths that differed.
    pub(crate) paths: Vec<String>,
    /// The change by someone else that was reverted.
    pub(crate) drift: Option<Box<Drift>>,
}

/// A change of a child by someone else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Drift {
    /// The field manager, if the server reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) manager: Option<String>,
    /// The version at which the child was up to date.
    #[serde(serialize_with = "wire::text")]
    #[schemars(with = "String")]
    pub(crate) from: ResourceVersion,
    /// The version after the change; missing when it was deleted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::text_of_some")]
    #[schemars(with = "Option<String>")]
    pub(crate) to: Option<ResourceVersion>,
}

/// The kind of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// An existing object became a child.
    Adopted,
    /// It was deleted.
    Deleted,
    /// It was written, which changed nothing.
    Unchanged,
}

/// Why a child is held whose deletion exceeds a limit.
pub(crate) const AWAITS_APPROVAL: &str = "its deletion waits for approval";

/// The longest texts kept, in bytes: there may be fifty of each, in ten reconciles.
const MAX_PATHS: usize = 10;
const MAX_PATH: usize = 1024;
const MAX_WHY: usize = 512;

impl Decision {
    /// A decision about a child that is not up to date.
    pub(crate) fn stuck(child: impl Into<Box<str>>, what: Decided, why: String) -> Self {
        let why = Some(why).filter(|why| !why.is_empty()).map(|why| wire::shortened(why, MAX_WHY));
        Self { child: child.into(), what, paths: Vec::new(), why, drift: None }
    }

    /// Whether it is a deletion that exceeds a limit.
    pub(crate) fn awaits_approval(&self) -> bool {
        self.what == Decided::Held && self.why.as_deref() == Some(AWAITS_APPROVAL)
    }

    pub(super) fn bounded(mut self) -> Self {
        self.paths.truncate(MAX_PATHS);
        let paths = self.paths.into_iter().map(|path| wire::shortened(path, MAX_PATH).into());
        self.paths = paths.collect();
        if let Some(manager) = self.drift.as_mut().and_then(|drift| drift.manager.as_mut()) {
            *manager = wire::shortened(std::mem::take(manager), MAX_PATH).into();
        }
        self
    }
}

impl From<WriteRecord> for Decision {
    fn from(WriteRecord { child, verb, paths, drift }: WriteRecord) -> Self {
        let what = match verb {
            Verb::Created => Decided::Created,
            Verb::Updated => Decided::Updated,
            Verb::Adopted => Decided::Adopted,
            // An undesired child has no differing paths.
            Verb::Deleted if paths.is_empty() => Decided::Deleted,
            Verb::Deleted => Decided::Recreated,
            Verb::Unchanged => Decided::Unchanged,
        };
        Self { child: child.into_boxed_str(), what, paths, why: None, drift }
    }
}

impl Decided {
    /// The write; `None` when there was none.
    pub fn verb(self) -> Option<Verb> {
        match self {
            Self::Created => Some(Verb::Created),
            Self::Updated => Some(Verb::Updated),
            Self::Adopted => Some(Verb::Adopted),
            Self::Recreated | Self::Deleted => Some(Verb::Deleted),
            Self::Unchanged => Some(Verb::Unchanged),
            Self::Failed | Self::Conflict | Self::Refused | Self::Waiting | Self::Held => None,
        }
    }

    /// The decision in one word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Failed => "Failed",
            Self::Conflict => "Conflict",
            Self::Refused => "Refused",
            Self::Waiting => "Waiting",
            Self::Held => "Held",
            Self::Created => "Created",
            Self::Updated => "Updated",
            Self::Adopted => "Adopted",
            Self::Recreated => "Recreated",
            Self::Deleted => "Deleted",
            Self::Unchanged => "Unchanged",
        }
    }
}

impl Verb {
    /// The verb as a metric label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Adopted => "adopted",
            Self::Deleted => "deleted",
            Self::Unchanged => "unchanged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_of_a_child_that_differs_is_a_recreation() {
        let decided = |verb, paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            let write = WriteRecord { child: "Pod.v1 a".to_owned(), verb, paths, drift: None };
            Decision::from(write).what
        };
        assert_eq!(decided(Verb::Deleted, &[]), Decided::Deleted);
        assert_eq!(decided(Verb::Deleted, &[".spec"]), Decided::Recreated);
        for verb in [Verb::Created, Verb::Updated, Verb::Adopted, Verb::Deleted, Verb::Unchanged] {
            assert_eq!(decided(verb, &[]).verb(), Some(verb));
        }
    }
}
