//! What a reconcile decided about a child, and what it did: values only.

use schemars::JsonSchema;
use serde::Serialize;

use super::wire;
use crate::object::ResourceVersion;

/// What a reconcile decided about one child that was not simply as desired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decision {
    /// Type and key of the child, as far as it has a name.
    #[schemars(with = "String")]
    pub child: Box<str>,
    /// What was decided.
    #[serde(rename = "decision")]
    pub what: Decided,
    /// The JSON paths that differed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What it waits for, who is in the way, or the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub why: Option<Box<str>>,
    /// What was repaired, when the child had been as desired before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Box<Drift>>,
}

/// What was decided about a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Decided {
    /// It was to be written or deleted, and that failed.
    Failed,
    /// It is not written because of somebody else: the object is theirs, or fields of it.
    Conflict,
    /// The handler wants what cannot be, so that nothing of its answer was done.
    Refused,
    /// Nothing can be done about it now.
    Waiting,
    /// It differs and is left so: its policy says so, a pause, or a limit on deletions.
    Held,
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was there already, and became a child.
    Adopted,
    /// It was deleted, to be created anew.
    Recreated,
    /// It was deleted.
    Deleted,
    /// It was written, and the server found nothing to change.
    Unchanged,
}

/// One write of a child that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRecord {
    /// Type and key of the child.
    pub child: String,
    /// What was done.
    pub verb: Verb,
    /// The JSON paths that differed.
    pub paths: Vec<String>,
    /// What was repaired, when the child had been as desired before.
    pub drift: Option<Box<Drift>>,
}

/// What somebody else did to a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Drift {
    /// The field manager, where the server tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// The version at which the child was as desired.
    #[serde(serialize_with = "wire::text")]
    #[schemars(with = "String")]
    pub from: ResourceVersion,
    /// The version at which it was not any more; missing when it was gone.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::text_of_some")]
    #[schemars(with = "Option<String>")]
    pub to: Option<ResourceVersion>,
}

/// What was done to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was there already, and became a child.
    Adopted,
    /// It was deleted.
    Deleted,
    /// It was written, and the server found nothing to change.
    Unchanged,
}

/// The longest texts that are kept, in bytes: there may be fifty of each, in ten runs.
const MAX_PATHS: usize = 10;
const MAX_PATH: usize = 1024;
const MAX_WHY: usize = 512;

impl Decision {
    /// That something keeps a child from being as desired.
    pub fn stuck(child: impl Into<Box<str>>, what: Decided, why: String) -> Self {
        let why = Some(why).filter(|why| !why.is_empty()).map(|why| wire::shortened(why, MAX_WHY));
        Self { child: child.into(), what, paths: Vec::new(), why, drift: None }
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
            // What is no longer wanted differs nowhere.
            Verb::Deleted if paths.is_empty() => Decided::Deleted,
            Verb::Deleted => Decided::Recreated,
            Verb::Unchanged => Decided::Unchanged,
        };
        Self { child: child.into_boxed_str(), what, paths, why: None, drift }
    }
}

impl Decided {
    /// What was done to the child; `None` when nothing was.
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
    pub fn name(self) -> &'static str {
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
    pub fn name(self) -> &'static str {
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
    fn a_deletion_of_what_differs_is_the_beginning_of_a_new_object() {
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
