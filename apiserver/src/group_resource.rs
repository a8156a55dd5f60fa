//! The name of a resource without its version: the unit of storage.

use std::fmt;

/// A resource by its group and its plural name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GroupResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural name.
    pub plural: String,
}

impl GroupResource {
    /// A resource by its names.
    pub(crate) fn new(group: impl Into<String>, plural: impl Into<String>) -> Self {
        Self { group: group.into(), plural: plural.into() }
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}
