//! What a user writes: a handler, which returns the desired state of a parent.

mod answered;
pub mod failable;
mod forms;
mod request;
mod response;
mod views;

use anyhow::Error;
use serde_json::Value;

pub(crate) use answered::{Answered, Retry};
#[cfg(test)]
pub(crate) use request::tests::request as test_request;
pub use request::{RequestChildren, SyncRequest};
pub use response::{FinalizeResponse, SyncResponse};
pub use views::{RawIter, RawView, TypedIter, TypedView};

/// The user's code, which may block. A function is one, and so is a pair of functions: the second answers
/// an error of the first with a status and the time of the retry.
///
/// ```
/// use roperator::prelude::*;
/// use roperator::serde_json::{json, Value};
/// use std::time::Duration;
///
/// fn sync(_: &SyncRequest) -> Result<SyncResponse, Error> {
///     Ok(SyncResponse::new(json!({"phase": "Running"})))
/// }
///
/// fn on_error(_: &SyncRequest, error: Error) -> (Value, Option<Duration>) {
///     (json!({"phase": "Error", "message": error.to_string()}), None)
/// }
///
/// fn is_handler(_: impl Handler) {}
/// is_handler(sync);
/// is_handler((sync, on_error));
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Returns the status and the children that the parent should have. Must be idempotent.
    ///
    /// # Errors
    /// The children stay as they are, and the handler is called again with backoff.
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error>;

    /// Cleans up before a parent is deleted. Must be idempotent.
    ///
    /// # Errors
    /// The parent stays, and this is called again with backoff.
    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse, Error> {
        let status = request.parent.status().cloned().unwrap_or(Value::Null);
        Ok(FinalizeResponse { status, retry: None })
    }

    /// Whether parents get a finalizer, so that `finalize` is called. roperator has no such method: a
    /// struct gets one unless it returns `false` here, functions get none.
    fn has_finalizer(&self) -> bool {
        true
    }
}
