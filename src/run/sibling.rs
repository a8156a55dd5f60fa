//! Another operator of a parent.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sibling {
    pub(crate) name: String,
    /// Whether it writes the conditions of the framework.
    pub(crate) has_conditions: bool,
}
