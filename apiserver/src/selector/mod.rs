//! Label and field selectors: the query strings that narrow a list or a watch.
//!
//! Which fields a resource can be selected by is the resource's own business; see
//! [`FieldSelector::check_fields`].

mod field;
mod label;
mod lexer;

pub use field::{FieldOperator, FieldRequirement, FieldSelector};
pub use label::{LabelSelector, Operator, Requirement};

use thiserror::Error;

/// A selector that cannot be understood, in the words of kube-apiserver.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(String);

impl ParseError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

#[cfg(test)]
mod tests;
