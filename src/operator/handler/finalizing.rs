//! Functions with a finalizer.

use std::{future::Future, marker::PhantomData};

use anyhow::Result;

use super::{AnyHandler, AsyncHandler, Handler, IntoHandler, form};
use crate::operator::{FinalizeResponse, Parent, Response, SyncRequest};

/// Two functions as a handler, see [`with_finalizer`].
#[derive(Debug, Clone, Copy)]
pub struct WithFinalizer<F, G> {
    sync: F,
    finalize: G,
}

/// A handler of two functions: `sync`, and `finalize`, which is called before a parent is deleted. Both
/// are blocking, or both asynchronous. See [`Handler::finalize`].
///
/// ```
/// use operetta::prelude::*;
///
/// fn sync(_: &SyncRequest) -> Result<SyncResponse> {
///     Ok(SyncResponse::new())
/// }
///
/// fn finalize(request: &SyncRequest) -> Result<FinalizeResponse> {
///     println!("{} goes", request.parent.name());
///     Ok(FinalizeResponse::done())
/// }
///
/// let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// let config = OperatorConfig::new("websites", website);
/// let supervisor = Supervisor::builder().register(config, with_finalizer(sync, finalize));
/// ```
pub fn with_finalizer<F, G>(sync: F, finalize: G) -> WithFinalizer<F, G> {
    WithFinalizer { sync, finalize }
}

/// The functions with their types.
struct Finalizing<F, G, T>(WithFinalizer<F, G>, PhantomData<fn() -> T>);

struct AsyncFinalizing<F, G, T>(WithFinalizer<F, G>, PhantomData<fn() -> T>);

#[diagnostic::do_not_recommend]
impl<F, G, P, S> IntoHandler<form::Function<P, S>> for WithFinalizer<F, G>
where
    F: Fn(&SyncRequest<P>) -> Result<S> + Send + Sync + 'static,
    G: Fn(&SyncRequest<P>) -> Result<FinalizeResponse> + Send + Sync + 'static,
    P: Parent,
    S: Response,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        AnyHandler::blocking(Finalizing::<_, _, (P, S)>(self, PhantomData))
    }
}

impl<F, G, P, S> Handler for Finalizing<F, G, (P, S)>
where
    F: Fn(&SyncRequest<P>) -> Result<S> + Send + Sync + 'static,
    G: Fn(&SyncRequest<P>) -> Result<FinalizeResponse> + Send + Sync + 'static,
    P: Parent,
    S: Response,
{
    type Parent = P;
    type Response = S;

    fn sync(&self, request: &SyncRequest<P>) -> Result<S> {
        (self.0.sync)(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest<P>) -> Result<FinalizeResponse> {
        (self.0.finalize)(request)
    }
}

#[diagnostic::do_not_recommend]
impl<F, Synced, G, Finalized, P, S> IntoHandler<form::AsyncFunction<P, S>> for WithFinalizer<F, G>
where
    F: Fn(SyncRequest<P>) -> Synced + Send + Sync + 'static,
    Synced: Future<Output = Result<S>> + Send + 'static,
    G: Fn(SyncRequest<P>) -> Finalized + Send + Sync + 'static,
    Finalized: Future<Output = Result<FinalizeResponse>> + Send + 'static,
    P: Parent,
    S: Response + Send,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        AnyHandler::asynchronous(AsyncFinalizing::<_, _, (P, S)>(self, PhantomData))
    }
}

impl<F, Synced, G, Finalized, P, S> AsyncHandler for AsyncFinalizing<F, G, (P, S)>
where
    F: Fn(SyncRequest<P>) -> Synced + Send + Sync + 'static,
    Synced: Future<Output = Result<S>> + Send + 'static,
    G: Fn(SyncRequest<P>) -> Finalized + Send + Sync + 'static,
    Finalized: Future<Output = Result<FinalizeResponse>> + Send + 'static,
    P: Parent,
    S: Response + Send,
{
    type Parent = P;
    type Response = S;

    fn sync(&self, request: SyncRequest<P>) -> impl Future<Output = Result<S>> + Send {
        (self.0.sync)(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(
        &self,
        request: SyncRequest<P>,
    ) -> impl Future<Output = Result<FinalizeResponse>> + Send {
        (self.0.finalize)(request)
    }
}
