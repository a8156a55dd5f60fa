//! A handler in parts, implemented by the user.

use std::{fmt::Display, time::Duration};

use serde::Serialize;
use serde_json::Value;

use super::HandlerResult;
use crate::operator::SyncRequest;

/// A handler in parts, whose errors become part of the status.
/// [`DefaultFailableHandler`](super::DefaultFailableHandler) makes a
/// [`Handler`](crate::operator::Handler) of it.
///
/// A pair of functions is one: the first returns the children, the second the status, given the
/// error of the first.
///
/// ```
/// use operetta::{operator::failable::DefaultFailableHandler, prelude::*};
/// use serde_json::{Value, json};
///
/// fn children(request: &SyncRequest) -> Result<Vec<Value>, String> {
///     let spec = request.parent.field("spec").unwrap_or_default();
///     let title = spec["title"].as_str().ok_or("no title")?;
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
/// let handler = DefaultFailableHandler::wrap((children, status));
/// let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// let request = SyncRequest::example(&website, json!({"metadata": {"name": "a"}}))?;
/// let error = handler.sync(&request).unwrap_err();
/// let response = handler.on_error(&request, &error);
/// assert_eq!(response.status, Some(json!({"ok": false, "error": "no title"})));
/// # Ok::<(), Error>(())
/// ```
pub trait FailableHandler: Send + Sync + 'static {
    /// What validation makes of a request, for example the parent as a Rust type.
    type Validated;

    /// The error, formatted with `{:#}`, which includes the causes of an `anyhow::Error`. Need be
    /// neither `Send` nor `'static`.
    type Error: Display;

    /// The status of the parent.
    type Status: Serialize + 'static;

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
        request: &SyncRequest,
    ) -> Result<Vec<Value>, Self::Error>;

    /// When to reconcile again although nothing changed, from the results of the other two. The
    /// default, `None`, leaves that to
    /// [`with_regular_resync`](super::DefaultFailableHandler::with_regular_resync).
    fn resync(&self, validated: &Self::Validated) -> Option<Duration> {
        let _ = validated;
        None
    }

    /// Whether parents get a finalizer, so that `finalize` is called. The default is no.
    fn has_finalizer(&self) -> bool {
        false
    }

    /// Cleans up before a parent is deleted; called only if [`FailableHandler::has_finalizer`].
    ///
    /// # Errors
    /// The parent then stays, and this is called again, for ever.
    fn finalize(&self, request: &SyncRequest) -> Result<(), Self::Error> {
        let _ = request;
        Ok(())
    }

    /// The status, from the existing children and from the results of the other calls.
    fn determine_status(
        &self,
        request: &SyncRequest,
        result: HandlerResult<Self::Validated, Self::Error>,
    ) -> Self::Status;

    /// Whether no retry fixes an error of `validate` or `sync_children`, so that the parent is not
    /// reconciled until it changes. The default is no.
    fn is_permanent(&self, error: &Self::Error) -> bool {
        let _ = error;
        false
    }
}

impl<C, S, E, T> FailableHandler for (C, S)
where
    C: Fn(&SyncRequest) -> Result<Vec<Value>, E> + Send + Sync + 'static,
    S: Fn(&SyncRequest, Option<E>) -> T + Send + Sync + 'static,
    E: Display,
    T: Serialize + 'static,
{
    type Validated = ();
    type Error = E;
    type Status = T;

    fn validate(&self, _: &SyncRequest) -> Result<(), E> {
        Ok(())
    }

    fn sync_children(&self, (): &mut (), request: &SyncRequest) -> Result<Vec<Value>, E> {
        self.0(request)
    }

    fn determine_status(&self, request: &SyncRequest, result: HandlerResult<(), E>) -> T {
        self.1(request, result.into_error())
    }
}
