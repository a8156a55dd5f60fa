//! What a handler returned of children: values.

use crate::operator::{DesiredChild, Stage};

/// The children that a handler returned, and their stages.
#[derive(Debug, Clone, Default)]
pub struct Desired {
    /// The children. Assumed to be nested no deeper than what can be read back (128 levels): what is
    /// planned is walked recursively.
    pub children: Vec<DesiredChild>,
    /// Their stages, if there are several.
    pub stages: Vec<Stage>,
}

/// Children without an order.
impl From<Vec<DesiredChild>> for Desired {
    fn from(children: Vec<DesiredChild>) -> Self {
        Self { children, stages: Vec::new() }
    }
}
