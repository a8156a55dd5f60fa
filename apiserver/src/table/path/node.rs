//! What a path is made of.

use super::compare::Operator;

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// A value that is written in the path.
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A member of a map.
    Field(String),
    /// All members of a map, or elements of a list.
    Wildcard,
    /// What is below, with all that is below it.
    Recursive,
    Slice(Slice),
    /// What each of these finds.
    Union(Vec<Vec<Node>>),
    /// The elements of a list for which something holds.
    Filter(Vec<Node>, Condition),
    /// `range` and `end`, which have no place in a column, or a word that means nothing.
    Word,
}

/// Elements of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: End,
    pub(super) step: Option<i64>,
}

/// Where a slice ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Before this element.
    Given(i64),
    /// Behind the one element that is named.
    AfterStart,
    /// With the list.
    Open,
}

/// What holds for the left side of a filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// There is something.
    Exists,
    /// It compares so with what the other side finds.
    Compares(Operator, Vec<Node>),
}
