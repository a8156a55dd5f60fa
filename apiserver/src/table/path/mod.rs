//! The JSON paths of printer columns, in the dialect of Kubernetes: what it accepts, what it finds, and where it gives up.
//!
//! ```text
//!  text ─ parse ─> nodes ─ find (within a budget) ─> the first value
//! ```
//!
//! **Invariants**: each step of the parser takes at least one character; a search ends when its budget is spent, whatever
//! the path and the object.

mod compare;
mod find;
mod node;
mod parse;
mod unquote;

use serde_json::Value;

use self::node::Node;
pub(super) use self::{compare::Found, find::Budget};

/// A parsed path: its actions and the texts between them, which Kubernetes does not rule out.
#[derive(Debug)]
pub(super) struct Path(Vec<Vec<Node>>);

impl Path {
    /// Parses `.spec.replicas` and the like; `None` where Kubernetes cannot.
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse::parse(&format!("{{{text}}}")).map(Self)
    }

    /// The first value of the first action. There is none if any action fails, or if the budget does not last.
    pub(super) fn first<'a>(&'a self, object: &'a Value, budget: &mut Budget) -> Option<Found<'a>> {
        let (first, rest) = self.0.split_first()?;
        let found = find::find(first, object, budget)?;
        for action in rest {
            find::find(action, object, budget)?;
        }
        found.into_iter().next()
    }
}

#[cfg(test)]
mod tests;
