//! What a pause keeps a reconcile from doing: values and their words.

use std::fmt;

/// What a pause keeps a reconcile from doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// What is paused.
    pub by: PausedBy,
    /// What is not done.
    pub held: Held,
}

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedBy {
    /// The parent, by its annotation.
    Annotation,
    /// The operator, by a command.
    Operator,
}

/// What is not done because of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// What the handler wants; it could not say.
    Undecided,
    /// So many writes of children.
    Writes(usize),
    /// A finalizer that is to be put on the parent, or taken off.
    Finalizer,
    /// The end of a parent that is being deleted, or has left the selection.
    Finalizing,
}

impl PausedBy {
    /// What is paused, in one word.
    pub fn name(self) -> &'static str {
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
            Self::Writes(0) => f.write_str("nothing is written; nothing would be"),
            Self::Writes(1) => f.write_str("nothing is written; 1 write is pending"),
            Self::Writes(count) => write!(f, "nothing is written; {count} writes are pending"),
            Self::Finalizer => {
                f.write_str("its finalizer is left as it is, and nothing is written")
            }
            Self::Finalizing => f.write_str("it is not finalized, and so it stays"),
        }
    }
}
