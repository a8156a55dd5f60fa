//! Functions with a finalizer.

use std::{
    future::{Future, ready},
    marker::PhantomData,
};

use anyhow::Result;

use super::{
    AnyHandler, AsyncHandler, Awaited, Handler, HandlerResult, HasForm, IntoHandler, form,
};
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

/// Cleans up beside a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the `finalize` of a blocking handler",
    label = "the second function of `with_finalizer` has another form",
    note = "beside `fn(&SyncRequest<P>)`, it is \
            `fn finalize(request: &SyncRequest<P>) -> Result<FinalizeResponse>`"
)]
pub trait Finalize<P, A> {
    /// See [`Handler::finalize`].
    fn finalize(&self, request: &SyncRequest<P>) -> Result<FinalizeResponse>;
}

#[diagnostic::do_not_recommend]
impl<G, P> Finalize<P, form::Blocking> for G
where
    G: Fn(&SyncRequest<P>) -> Result<FinalizeResponse>,
{
    fn finalize(&self, request: &SyncRequest<P>) -> Result<FinalizeResponse> {
        self(request)
    }
}

#[diagnostic::do_not_recommend]
impl<G: HasForm<form::Nothing>, P> Finalize<P, form::Nothing> for G {
    fn finalize(&self, _: &SyncRequest<P>) -> Result<FinalizeResponse> {
        Ok(FinalizeResponse::done())
    }
}

/// Cleans up beside an asynchronous function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the `finalize` of an asynchronous handler",
    label = "the second function of `with_finalizer` has another form",
    note = "beside an `async fn`, it is \
            `async fn finalize(request: SyncRequest<P>) -> Result<FinalizeResponse>`"
)]
pub trait AsyncFinalize<P, A> {
    /// See [`AsyncHandler::finalize`].
    fn finalize(
        &self,
        request: SyncRequest<P>,
    ) -> impl Future<Output = Result<FinalizeResponse>> + Send;
}

#[diagnostic::do_not_recommend]
impl<G, P, Fut> AsyncFinalize<P, form::Async> for G
where
    G: Fn(SyncRequest<P>) -> Fut,
    Fut: Future<Output = Result<FinalizeResponse>> + Send,
{
    fn finalize(
        &self,
        request: SyncRequest<P>,
    ) -> impl Future<Output = Result<FinalizeResponse>> + Send {
        self(request)
    }
}

#[diagnostic::do_not_recommend]
impl<G: HasForm<form::Nothing>, P> AsyncFinalize<P, form::Nothing> for G {
    fn finalize(&self, _: SyncRequest<P>) -> impl Future<Output = Result<FinalizeResponse>> + Send {
        ready(Ok(FinalizeResponse::done()))
    }
}

/// The functions with the types of the parent, of what `sync` returns and of the form of `finalize`.
struct Finalizing<F, G, T>(WithFinalizer<F, G>, PhantomData<fn() -> T>);

struct AsyncFinalizing<F, G, T>(WithFinalizer<F, G>, PhantomData<fn() -> T>);

#[diagnostic::do_not_recommend]
impl<F, G, P, O, A> HasForm<form::Pair<P, O, A>> for WithFinalizer<F, G> where
    F: Fn(&SyncRequest<P>) -> O
{
}

impl<F, G, P, O, A> IntoHandler<form::Pair<P, O, A>> for WithFinalizer<F, G>
where
    F: Fn(&SyncRequest<P>) -> O + Send + Sync + 'static,
    P: Parent,
    O: HandlerResult + 'static,
    G: Finalize<P, A> + Send + Sync + 'static,
    A: 'static,
{
    type Role = <O::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::blocking(Finalizing::<_, _, (P, O, A)>(self, PhantomData))
    }
}

impl<F, G, P, O, A> Handler for Finalizing<F, G, (P, O, A)>
where
    F: Fn(&SyncRequest<P>) -> O + Send + Sync + 'static,
    G: Finalize<P, A> + Send + Sync + 'static,
    A: 'static,
    P: Parent,
    O: HandlerResult + 'static,
{
    type Parent = P;
    type Response = O::Response;

    fn sync(&self, request: &SyncRequest<P>) -> Result<O::Response> {
        (self.0.sync)(request).into_result()
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest<P>) -> Result<FinalizeResponse> {
        self.0.finalize.finalize(request)
    }
}

#[diagnostic::do_not_recommend]
impl<F, G, P, Fut, A> HasForm<form::AsyncPair<P, Fut, A>> for WithFinalizer<F, G> where
    F: Fn(SyncRequest<P>) -> Fut
{
}

impl<F, G, P, Fut, A> IntoHandler<form::AsyncPair<P, Fut, A>> for WithFinalizer<F, G>
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    P: Parent,
    Fut: Awaited<Output: HandlerResult<Response: Send>> + Send + 'static,
    G: AsyncFinalize<P, A> + Send + Sync + 'static,
    A: 'static,
{
    type Role = <<Fut::Output as HandlerResult>::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::asynchronous(AsyncFinalizing::<_, _, (P, Fut, A)>(self, PhantomData))
    }
}

impl<F, G, P, Fut, A> AsyncHandler for AsyncFinalizing<F, G, (P, Fut, A)>
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    G: AsyncFinalize<P, A> + Send + Sync + 'static,
    A: 'static,
    P: Parent,
    Fut: Awaited<Output: HandlerResult<Response: Send>> + Send + 'static,
{
    type Parent = P;
    type Response = <Fut::Output as HandlerResult>::Response;

    fn sync(&self, request: SyncRequest<P>) -> impl Future<Output = Result<Self::Response>> + Send {
        let returned = (self.0.sync)(request);
        async move { returned.await.into_result() }
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(
        &self,
        request: SyncRequest<P>,
    ) -> impl Future<Output = Result<FinalizeResponse>> + Send {
        self.0.finalize.finalize(request)
    }
}
