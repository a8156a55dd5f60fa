//! A handler in parts, implemented by the user.

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;

use super::HandlerResult;
use crate::handler::SyncRequest;

/// A handler in parts, whose errors become part of the status.
/// [`DefaultFailableHandler`](super::DefaultFailableHandler) makes a [`Handler`](crate::handler::Handler) of
/// it.
///
/// A pair of functions is one: the first returns the children, the second the status, given the error of the
/// first.
///
/// ```
/// use roperator::handler::failable::DefaultFailableHandler;
/// use roperator::prelude::*;
/// use roperator::serde_json::{json, Value};
///
/// fn children(request: &SyncRequest) -> Result<Vec<Value>, String> {
///     let title = request.parent.str_value("/spec/title").ok_or("no title")?;
///     Ok(vec![json!({
///         "apiVersion": "v1", "kind": "ConfigMap",
///         "metadata": {"name": request.parent.name()}, "data": {"title": title},
///     })])
/// }
///
/// fn status(_: &SyncRequest, error: Option<String>) -> Value {
///     json!({"ok": error.is_none(), "error": error})
/// }
///
/// fn is_handler(_: impl Handler) {}
/// is_handler(DefaultFailableHandler::wrap((children, status)));
/// ```
pub trait FailableHandler: Send + Sync + 'static {
    /// What validation makes of a request, for example the parent as a Rust type.
    type Validated;

    /// The error, which the parent's condition shows by `Debug`. Need be neither `Send` nor `'static`.
    type Error: Debug;

    /// The status of the parent.
    type Status: Serialize;

    /// Validates the request before anything else.
    ///
    /// # Errors
    /// `sync_children` is then not called.
    fn validate(&self, request: &SyncRequest) -> Result<Self::Validated, Self::Error>;

    /// The children that should exist.
    ///
    /// # Errors
    /// The existing children then stay as they are.
    fn sync_children(
        &self,
        validated: &mut Self::Validated,
        req: &SyncRequest,
    ) -> Result<Vec<Value>, Self::Error>;

    /// Cleans up before a parent is deleted.
    ///
    /// # Errors
    /// The parent then stays, and this is called again, for ever.
    fn finalize(&self, req: &SyncRequest) -> Result<(), Self::Error> {
        let _ = req;
        Ok(())
    }

    /// The status, from the existing children and from the results of the other calls.
    fn determine_status(
        &self,
        req: &SyncRequest,
        result: HandlerResult<Self::Validated, Self::Error>,
    ) -> Self::Status;

    /// Whether parents get a finalizer, so that `finalize` is called. roperator has no such method: a
    /// struct gets one unless it returns `false` here, functions get none.
    fn has_finalizer(&self) -> bool {
        true
    }
}

impl<C, S, E, T> FailableHandler for (C, S)
where
    C: Fn(&SyncRequest) -> Result<Vec<Value>, E> + Send + Sync + 'static,
    S: Fn(&SyncRequest, Option<E>) -> T + Send + Sync + 'static,
    E: Debug,
    T: Serialize,
{
    type Validated = ();
    type Error = E;
    type Status = T;

    fn validate(&self, _: &SyncRequest) -> Result<(), E> {
        Ok(())
    }

    fn sync_children(&self, (): &mut (), req: &SyncRequest) -> Result<Vec<Value>, E> {
        self.0(req)
    }

    fn determine_status(&self, req: &SyncRequest, result: HandlerResult<(), E>) -> T {
        self.1(req, result.into_error())
    }

    fn has_finalizer(&self) -> bool {
        false
    }
}
