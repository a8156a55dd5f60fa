//! The trait that a user implements.

use anyhow::{Error, Result};

use super::{ErrorResponse, FinalizeResponse, SyncRequest, SyncResponse};

/// The user's code: from what is, to what should be.
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
///     Err(Error::msg("the oven is cold"))
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
/// - Runs for one parent never overlap; runs for different parents do. Beside them [`Handler::sync`]
///   may be called once more at a time, to show what it would answer; nothing is done with that.
/// - It runs on a thread where blocking and computing are fine, never on an actor.
/// - The request is a consistent snapshot: all reads of one reconcile see the same versions.
/// - After an error, a panic or a reconcile past the deadline every child stays as it is.
///
/// # Assumptions
/// - Pure: the same request gives the same response. No clock, random number or network call
///   should change the answer, or the parent is written for ever.
/// - It returns: a reconcile past its deadline keeps its parent and its thread busy until it does.
pub trait Handler: Send + Sync + 'static {
    /// Says which children and which status the parent should have now.
    ///
    /// # Errors
    /// Any error: it is shown in the parent's `Ready` condition and retried with backoff. Return a
    /// [`Permanent`](super::Permanent), or add it by `.context(..)`, to rest until the parent changes,
    /// and a [`RetryAfter`](super::RetryAfter) to choose the delay.
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse>;

    /// Whether parents get a finalizer, so that [`Handler::finalize`] runs before they are gone.
    ///
    /// The default is no: Kubernetes collects the children of a deleted parent by itself, and a
    /// parent without a finalizer never hangs when the operator is not there.
    fn has_finalizer(&self) -> bool {
        false
    }

    /// Cleans up before a deleted parent goes; called only if [`Handler::has_finalizer`]. The
    /// children are still visible, and none is created or changed any more.
    ///
    /// Cleaning up twice must do no harm: it is called again where the finalizer could not be taken
    /// off, the process ended before, or the answer came after the deadline.
    ///
    /// # Errors
    /// Any error keeps the finalizer, and is retried with backoff.
    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        let _ = request;
        Ok(FinalizeResponse::done())
    }

    /// Answers an error that [`Handler::sync`] or [`Handler::finalize`] has returned.
    ///
    /// Only the status and the time of the retry can be chosen here. The children stay exactly as
    /// they are, a finalizer stays too, and the `Ready` condition says what failed. The default
    /// leaves the status as it is and retries with backoff.
    ///
    /// Runs on the same thread as what failed, and within the same deadline; when it panics, the
    /// error is treated as if there were no answer. It is not called for a panic or for a reconcile past
    /// its deadline.
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
