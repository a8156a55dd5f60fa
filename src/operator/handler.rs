//! The trait that a user implements.

use super::{FinalizeResponse, SyncRequest, SyncResponse};

/// The user's code: from what is, to what should be.
///
/// A function `Fn(&SyncRequest) -> anyhow::Result<SyncResponse>` is a handler; a struct implements
/// the trait when it needs settings or a finalizer.
///
/// # Guarantees
/// - Runs for one parent never overlap; runs for different parents do.
/// - It runs on a thread where blocking and computing are fine, never on an actor.
/// - The request is a consistent snapshot: all reads of one run see the same versions.
/// - After an error, a panic or a run past the deadline every child stays as it is.
///
/// # Assumptions
/// - Pure: the same request gives the same response. No clock, random number or network call
///   should change the answer, or the parent is written for ever.
/// - It returns: a run past its deadline keeps its parent and its thread busy until it does.
pub trait Handler: Send + Sync + 'static {
    /// Says which children and which status the parent should have now.
    ///
    /// # Errors
    /// Any error: it is shown in the parent's `Ready` condition and retried with backoff. Wrap it
    /// in [`Permanent`](super::Permanent) to rest until the spec changes, or in
    /// [`RetryAfter`](super::RetryAfter) to choose the delay.
    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse>;

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
    /// # Errors
    /// Any error keeps the finalizer, and is retried with backoff.
    fn finalize(&self, request: &SyncRequest) -> anyhow::Result<FinalizeResponse> {
        let _ = request;
        Ok(FinalizeResponse::done())
    }
}

impl<F> Handler for F
where
    F: Fn(&SyncRequest) -> anyhow::Result<SyncResponse> + Send + Sync + 'static,
{
    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse> {
        self(request)
    }
}
