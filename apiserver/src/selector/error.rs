//! The error of an invalid selector.

use thiserror::Error;

/// An invalid selector, with the message of kube-apiserver.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(String);

impl ParseError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
