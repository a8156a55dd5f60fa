//! Fields of the parent that others own.

use std::fmt;

use crate::{operator::OperatorName, plan::HeldField};

/// Fields of the parent, mostly of its status, that other field managers own with other values. They are
/// not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentConflict {
    /// This operator.
    pub(crate) operator: OperatorName,
    pub(crate) held: Vec<HeldField>,
}

impl fmt::Display for ParentConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, held } = self;
        write!(f, "`{operator}` did not write fields of the parent that others own: ")?;
        for (index, held) in held.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{held}")?;
        }
        write!(f, "; let only one of them set each field")
    }
}
