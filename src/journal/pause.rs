//! What a pause holds: values and their texts.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) by: PausedBy,
    pub(crate) held: Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PausedBy {
    /// The parent, by its annotation.
    Annotation,
    Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Unknown: the handler was not called or failed.
    Undecided,
    /// This number of writes of children.
    Writes(usize),
    Finalizer,
    /// The finalization of a parent that is terminating or no longer selected.
    Finalizing,
}

impl PausedBy {
    /// What is paused, in one word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Annotation => "parent",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecided => f.write_str("nothing is written"),
            Self::Writes(0) => f.write_str("nothing is written; no write is pending"),
            Self::Writes(1) => f.write_str("nothing is written; 1 write is pending"),
            Self::Writes(count) => write!(f, "nothing is written; {count} writes are pending"),
            Self::Finalizer => {
                f.write_str("its finalizers are not changed, and nothing is written")
            }
            Self::Finalizing => f.write_str("it is not finalized until the pause ends"),
        }
    }
}
