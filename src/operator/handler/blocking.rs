//! The trait of a handler that may block.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Error, Result};

use super::{Failed, Returned};
use crate::{
    object::Object,
    operator::{ErrorResponse, FinalizeResponse, Parent, Related, Response, SyncRequest},
};

/// The user's code: computes the desired children and status of a parent. It may block its thread; see
/// [`AsyncHandler`](super::AsyncHandler) for one that awaits.
///
/// A struct implements the trait when it needs settings or a finalizer. Functions need no trait, see
/// [`IntoHandler`](super::IntoHandler).
///
/// ```
/// use operetta::{object::Object, prelude::*};
/// use serde_json::json;
///
/// struct Pages {
///     domain: String,
/// }
///
/// impl Handler for Pages {
///     type Parent = Object;
///     type Response = SyncResponse;
///
///     fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
///         let host = format!("{}.{}", request.parent.name(), self.domain);
///         Ok(SyncResponse::status(json!({"host": host})))
///     }
/// }
/// ```
///
/// # Guarantees
/// - Reconciles of one parent never overlap; those of different parents do. Beside them
///   [`Handler::sync`] may be called once at a time for a preview, whose response is only shown, see
///   [`SyncRequest::is_preview`].
/// - It runs on a thread where blocking and computing are fine, never on an actor.
/// - The request is a consistent snapshot: all reads of one reconcile see the same versions.
/// - After an error, a panic or a missed deadline no child is changed.
/// - It is not called for a parent that does not fit [`Handler::Parent`]. Such a parent is not
///   reconciled until it changes, and its conditions name the JSON path.
///
/// # Assumptions
/// - Pure: the same request gives the same response. The response must not depend on another clock than
///   [`SyncRequest::now`], a random number or a network call, or the parent is written for ever.
/// - It returns: a reconcile past its deadline keeps its parent and its thread busy until it does.
pub trait Handler: Send + Sync + 'static {
    /// The type of the parent: a kube resource, or [`Object`](crate::object::Object) for a dynamic
    /// handler.
    type Parent: Parent;

    /// What [`Handler::sync`] returns: a [`SyncResponse`](crate::operator::SyncResponse) with its type of status, or
    /// from a decorator a [`DecoratorResponse`](crate::operator::DecoratorResponse).
    type Response: Response;

    /// Returns the desired children and status of the parent.
    ///
    /// # Errors
    /// Any error: it is shown in the parent's `Ready` condition and retried with backoff. Return a
    /// [`Permanent`](crate::operator::Permanent), or add it by `.context(..)`, to disable retries until the
    /// parent changes, and a [`RetryAfter`](crate::operator::RetryAfter) to choose the delay.
    fn sync(&self, request: &SyncRequest<Self::Parent>) -> Result<Self::Response>;

    /// Names the objects that this parent reads and does not own; the default is none. The request has them
    /// as [`SyncRequest::related`], and a change of one causes a reconcile.
    ///
    /// Called before each [`Handler::sync`] and [`Handler::finalize`], within a deadline of its own, if the
    /// operator declares types by [`OperatorConfig::related`](crate::operator::OperatorConfig::related).
    ///
    /// Must be pure: it depends on the parent alone.
    fn related(&self, parent: &Self::Parent) -> Related {
        let _ = parent;
        Related::new()
    }

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
    fn finalize(&self, request: &SyncRequest<Self::Parent>) -> Result<FinalizeResponse> {
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
    /// the default is used. It is not called for a panic or a missed deadline, nor for a parent that
    /// does not fit its type.
    fn on_error(&self, request: &SyncRequest<Self::Parent>, error: &Error) -> ErrorResponse {
        let _ = (request, error);
        ErrorResponse::default()
    }
}

/// Calls a blocking handler with the request as its types.
pub(super) fn call_blocking<H: Handler, R>(
    handler: &H,
    request: SyncRequest,
    call: impl FnOnce(&H, &SyncRequest<H::Parent>) -> Result<R>,
) -> Returned<R> {
    let is_undeclared = request.declares_no_related();
    let request = request.typed::<H::Parent>().map_err(|error| Failed::misfit(&error))?;
    if is_undeclared {
        refuse_undeclared(&handler.related(&request.parent))?;
    }
    call(handler, &request).map_err(|error| {
        let answer = catch_unwind(AssertUnwindSafe(|| handler.on_error(&request, &error)));
        Failed::new(error.into(), answer)
    })
}

/// Names the objects that a parent reads.
pub(super) fn call_related<P: Parent>(
    parent: &Object,
    related: impl FnOnce(&P) -> Related,
) -> Returned<Related> {
    Ok(related(&P::of_object(parent).map_err(|error| Failed::misfit(&error))?))
}

/// An operator without related types does not read what a handler names.
pub(super) fn refuse_undeclared(related: &Related) -> Returned<()> {
    related.types().next().map_or(Ok(()), |ty| Err(Failed::undeclared(ty)))
}
