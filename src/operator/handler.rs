//! The trait that a user implements.

use anyhow::{Error, Result};

use super::{ErrorResponse, FinalizeResponse, SyncRequest, SyncResponse};

/// The user's code: computes the desired children and status of a parent.
///
/// - A function `Fn(&SyncRequest) -> Result<SyncResponse>` is a handler.
/// - A pair of functions is one too: the second answers an error of the first, see
///   [`Handler::on_error`].
/// - A struct implements the trait when it needs settings or a finalizer.
///
/// ```
/// use operetta::{operator::ErrorResponse, prelude::*};
/// use serde_json::json;
///
/// fn sync(_: &SyncRequest) -> Result<SyncResponse> {
///     Err(Error::msg("the backend is not reachable"))
/// }
///
/// fn on_error(_: &SyncRequest, error: &Error) -> ErrorResponse {
///     ErrorResponse::status(json!({"phase": "Error", "message": error.to_string()}))
/// }
///
/// fn is_handler(_: impl Handler) {}
/// is_handler(sync);
/// is_handler((sync, on_error));
/// ```
///
/// # Guarantees
/// - Reconciles of one parent never overlap; those of different parents do. Beside them
///   [`Handler::sync`] may be called once at a time for a preview, whose response is only shown.
/// - It runs on a thread where blocking and computing are fine, never on an actor.
/// - The request is a consistent snapshot: all reads of one reconcile see the same versions.
/// - After an error, a panic or a missed deadline no child is changed.
///
/// # Assumptions
/// - Pure: the same request gives the same response. The response must not depend on a clock, a
///   random number or a network call, or the parent is written for ever.
/// - It returns: a reconcile past its deadline keeps its parent and its thread busy until it does.
pub trait Handler: Send + Sync + 'static {
    /// Returns the desired children and status of the parent.
    ///
    /// # Errors
    /// Any error: it is shown in the parent's `Ready` condition and retried with backoff. Return a
    /// [`Permanent`](super::Permanent), or add it by `.context(..)`, to disable retries until the
    /// parent changes, and a [`RetryAfter`](super::RetryAfter) to choose the delay.
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse>;

    /// Whether parents get a finalizer, so that [`Handler::finalize`] is called before they are
    /// deleted.
    ///
    /// The default is no: Kubernetes collects the children of a deleted parent by itself, and the
    /// deletion of a parent without a finalizer does not wait for the operator.
    fn has_finalizer(&self) -> bool {
        false
    }

    /// Cleans up before a parent is deleted; called only if [`Handler::has_finalizer`]. The
    /// children are still visible, and none is created or changed any more.
    ///
    /// Must be idempotent: it is called again if the finalizer could not be removed, the process
    /// ended before, or the response came after the deadline.
    ///
    /// # Errors
    /// Any error keeps the finalizer, and is retried with backoff.
    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        let _ = request;
        Ok(FinalizeResponse::done())
    }

    /// Responds to an error of [`Handler::sync`] or [`Handler::finalize`].
    ///
    /// Only the status and the time of the retry can be chosen here. Children and finalizer stay as
    /// they are, and the `Ready` condition shows the error. The default leaves the status as it is
    /// and retries with backoff.
    ///
    /// Runs on the same thread as the call that failed, and within the same deadline; if it panics,
    /// the default is used. It is not called for a panic or a missed deadline.
    fn on_error(&self, request: &SyncRequest, error: &Error) -> ErrorResponse {
        let _ = (request, error);
        ErrorResponse::default()
    }
}

impl<F> Handler for F
where
    F: Fn(&SyncRequest) -> Result<SyncResponse> + Send + Sync + 'static,
{
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        self(request)
    }
}

impl<F, E, R> Handler for (F, E)
where
    F: Fn(&SyncRequest) -> Result<SyncResponse> + Send + Sync + 'static,
    E: Fn(&SyncRequest, &Error) -> R + Send + Sync + 'static,
    R: Into<ErrorResponse>,
{
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        self.0(request)
    }

    fn on_error(&self, request: &SyncRequest, error: &Error) -> ErrorResponse {
        self.1(request, error).into()
    }
}

/// A handler whose type is forgotten, for example in a list of several.
impl Handler for Box<dyn Handler> {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        (**self).sync(request)
    }

    fn has_finalizer(&self) -> bool {
        (**self).has_finalizer()
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        (**self).finalize(request)
    }

    fn on_error(&self, request: &SyncRequest, error: &Error) -> ErrorResponse {
        (**self).on_error(request, error)
    }
}
