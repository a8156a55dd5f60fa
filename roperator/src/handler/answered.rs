//! An error that carries the answer to it. Only what made the error can determine that.

use std::{fmt, time::Duration};

use operetta::operator::ErrorResponse;
use serde_json::Value;

use super::failable::BackoffConfig;

/// An error of a handler, and the answer to it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) message: String,
    pub(crate) status: Option<Value>,
    pub(crate) retry: Retry,
}

/// When a failed reconcile is retried.
#[derive(Debug)]
pub(crate) enum Retry {
    /// With the backoff of the operator.
    Usual,
    After(Duration),
    /// With a backoff that may end.
    Backoff(BackoffConfig),
    /// With a backoff that never ends.
    ForEver(BackoffConfig),
}

impl Answered {
    /// The answer after so many earlier failures of the parent with this uid.
    pub(crate) fn response(&self, failures: u32, uid: &str) -> ErrorResponse {
        let retry = match &self.retry {
            Retry::Usual => None,
            Retry::After(delay) => Some(*delay),
            Retry::Backoff(backoff) => backoff.next(failures, uid),
            Retry::ForEver(backoff) => Some(backoff.next_for_ever(failures, uid)),
        };
        let status = self.status.clone();
        ErrorResponse { status, retry, ..ErrorResponse::default() }
    }

    /// Whether the parent is not retried until it changes.
    pub(crate) fn is_given_up(&self, failures: u32, uid: &str) -> bool {
        matches!(&self.retry, Retry::Backoff(backoff) if backoff.next(failures, uid).is_none())
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Answered {}
