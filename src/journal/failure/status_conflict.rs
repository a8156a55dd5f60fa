//! Status fields that two operators of a parent write.

use std::fmt;

use crate::{object::quoted, operator::OperatorName, plan::HeldField};

/// Fields of the status that another operator owns with other values. They are not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusConflict {
    pub(crate) operator: OperatorName,
    pub(crate) held: Vec<HeldField>,
}

impl fmt::Display for StatusConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, held } = self;
        write!(f, "status fields were not written: ")?;
        for (index, HeldField { path, manager }) in held.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            let other = quoted(manager);
            write!(f, "{comma}{path} is written by the operators {other} and `{operator}`")?;
        }
        write!(f, "; return each field from one operator only")
    }
}
