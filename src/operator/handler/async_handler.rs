//! The trait of a handler that awaits.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

use anyhow::{Error, Result};
use futures::FutureExt;

use super::{Failed, Returned, blocking::refuse_undeclared};
use crate::operator::{ErrorResponse, FinalizeResponse, Parent, Related, Response, SyncRequest};

/// A [`Handler`](super::Handler) whose methods are futures: for handlers that call other systems.
/// Implement it with `async fn`.
///
/// ```
/// use operetta::{object::Object, operator::AsyncHandler, prelude::*};
/// use serde_json::json;
///
/// struct Databases;
///
/// impl AsyncHandler for Databases {
///     type Parent = Object;
///     type Response = SyncResponse;
///
///     async fn sync(&self, request: SyncRequest) -> Result<SyncResponse> {
///         let version = database_version(request.parent.name()).await?;
///         Ok(SyncResponse::status(json!({"version": version})))
///     }
/// }
/// # async fn database_version(_: &str) -> Result<u32> { Ok(1) }
/// ```
///
/// # Guarantees
/// Those of [`Handler`](super::Handler), and:
/// - The futures run on the runtime of the supervisor.
/// - A future is dropped at the deadline of the handler; the parent is then retried with backoff.
///   What it awaits is cancelled there, and its last step may or may not have taken effect.
/// - While it awaits it takes no thread, no permit of a request, and none of the permits that
///   operators share.
/// - It is not called for previews, unless
///   [`with_preview`](crate::operator::OperatorConfig::with_preview) says that it may be: calls of
///   other systems would be repeated whenever somebody looks.
///
/// # Assumptions
/// - Cancel safety: a call is complete or can be repeated wherever it awaits.
/// - It does not block its thread. A future that blocks cannot be dropped: it is reported as
///   overdue, and keeps its parent and its permit until it yields.
/// - Its answers are stable: what other systems answer may change the desired state, and each
///   change is written.
pub trait AsyncHandler: Send + Sync + 'static {
    /// The type of the parent, see [`Handler::Parent`](super::Handler::Parent).
    type Parent: Parent;

    /// What [`AsyncHandler::sync`] returns, see [`Handler::Response`](super::Handler::Response).
    type Response: Response + Send;

    /// Returns the desired children and status of the parent, see
    /// [`Handler::sync`](super::Handler::sync).
    ///
    /// # Errors
    /// Those of [`Handler::sync`](super::Handler::sync).
    fn sync(
        &self,
        request: SyncRequest<Self::Parent>,
    ) -> impl Future<Output = Result<Self::Response>> + Send;

    /// Names the objects that this parent reads, see [`Handler::related`](super::Handler::related). It must
    /// not block: it has the parent alone.
    fn related(&self, parent: &Self::Parent) -> Related {
        let _ = parent;
        Related::new()
    }

    /// Whether parents get a finalizer, see [`Handler::has_finalizer`](super::Handler::has_finalizer).
    fn has_finalizer(&self) -> bool {
        false
    }

    /// Cleans up before a parent is deleted, see [`Handler::finalize`](super::Handler::finalize).
    ///
    /// # Errors
    /// Any error keeps the finalizer, and is retried with backoff.
    fn finalize(
        &self,
        request: SyncRequest<Self::Parent>,
    ) -> impl Future<Output = Result<FinalizeResponse>> + Send {
        let _ = request;
        async { Ok(FinalizeResponse::done()) }
    }

    /// Responds to an error, see [`Handler::on_error`](super::Handler::on_error). It runs within the
    /// deadline of the call that failed.
    fn on_error(
        &self,
        request: SyncRequest<Self::Parent>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send {
        let _ = (request, error);
        async { ErrorResponse::default() }
    }
}

/// Calls an asynchronous handler with the request as its types.
pub(super) async fn call_async<H, R, Fut>(
    handler: Arc<H>,
    request: SyncRequest,
    call: impl FnOnce(Arc<H>, SyncRequest<H::Parent>) -> Fut,
) -> Returned<R>
where
    H: AsyncHandler,
    Fut: Future<Output = Result<R>>,
{
    let typed = request.clone().typed::<H::Parent>().map_err(|error| Failed::misfit(&error))?;
    if request.declares_no_related() {
        refuse_undeclared(&handler.related(&typed.parent))?;
    }
    match call(handler.clone(), typed).await {
        Ok(returned) => Ok(returned),
        Err(error) => Err(respond(&*handler, request, error).await),
    }
}

async fn respond<H: AsyncHandler>(handler: &H, request: SyncRequest, error: Error) -> Failed {
    let error = Arc::new(error);
    // It fitted before the call.
    let typed = match request.typed::<H::Parent>() {
        Ok(typed) => typed,
        Err(misfit) => return Failed::misfit(&misfit),
    };
    let answer = AssertUnwindSafe(handler.on_error(typed, error.clone())).catch_unwind().await;
    Failed::new(error, answer)
}
