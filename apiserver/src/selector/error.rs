//! Why a selector cannot be understood.

use thiserror::Error;

/// A selector that cannot be understood, in the words of kube-apiserver.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(String);

impl ParseError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
