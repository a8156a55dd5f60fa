//! An asynchronous function as a handler, and one for its errors.

use std::{
    future::{Future, ready},
    marker::PhantomData,
    sync::Arc,
};

use anyhow::{Error, Result};

use super::{AnyHandler, AsyncHandler, Awaited, HandlerResult, IntoHandler, form};
use crate::operator::{ErrorResponse, Parent, Response, SyncRequest};

/// A function and what answers its errors, with the types of the parent, of the future and of the answer.
struct AsyncFunctions<F, E, T>(F, E, PhantomData<fn() -> T>);

/// That of a function alone.
type NoAnswer = form::Answer<ErrorResponse>;

/// Answers the errors of an asynchronous function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer the errors of an asynchronous handler",
    label = "the second function of this pair has another form",
    note = "beside an `async fn`, the function for errors is \
            `async fn on_error(request: SyncRequest<P>, error: Arc<Error>) -> ErrorResponse`, or \
            `fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`, with `operetta::anyhow::Error`"
)]
pub trait AsyncOnError<P, A> {
    /// The response to an error.
    fn answer(
        &self,
        request: SyncRequest<P>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send;
}

#[diagnostic::do_not_recommend]
impl<E, P, R> AsyncOnError<P, form::Answer<R>> for E
where
    E: Fn(&SyncRequest<P>, &Error) -> R,
    R: Into<ErrorResponse>,
{
    fn answer(
        &self,
        request: SyncRequest<P>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send {
        ready(self(&request, &error).into())
    }
}

#[diagnostic::do_not_recommend]
impl<E, P, Fut, R> AsyncOnError<P, form::AsyncAnswer<R>> for E
where
    E: Fn(SyncRequest<P>, Arc<Error>) -> Fut,
    Fut: Future<Output = R> + Send,
    R: Into<ErrorResponse>,
{
    fn answer(
        &self,
        request: SyncRequest<P>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send {
        let answered = self(request, error);
        async move { answered.await.into() }
    }
}

impl<F, P, Fut> IntoHandler<form::AsyncFunction<P, Fut>> for F
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    P: Parent,
    Fut: Awaited<Output: HandlerResult<Response: Send>> + Send + 'static,
{
    type Role = <<Fut::Output as HandlerResult>::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        let default = |_: &SyncRequest<P>, _: &Error| ErrorResponse::default();
        let functions = AsyncFunctions::<_, _, (P, Fut, NoAnswer)>(self, default, PhantomData);
        AnyHandler::asynchronous(functions)
    }
}

impl<F, E, P, Fut, A> IntoHandler<form::AsyncPair<P, Fut, A>> for (F, E)
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    P: Parent,
    Fut: Awaited<Output: HandlerResult<Response: Send>> + Send + 'static,
    E: AsyncOnError<P, A> + Send + Sync + 'static,
    A: 'static,
{
    type Role = <<Fut::Output as HandlerResult>::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        let (sync, on_error) = self;
        AnyHandler::asynchronous(AsyncFunctions::<_, _, (P, Fut, A)>(sync, on_error, PhantomData))
    }
}

impl<F, E, P, Fut, A> AsyncHandler for AsyncFunctions<F, E, (P, Fut, A)>
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    E: AsyncOnError<P, A> + Send + Sync + 'static,
    P: Parent,
    Fut: Awaited<Output: HandlerResult<Response: Send>> + Send + 'static,
    A: 'static,
{
    type Parent = P;
    type Response = <Fut::Output as HandlerResult>::Response;

    fn sync(&self, request: SyncRequest<P>) -> impl Future<Output = Result<Self::Response>> + Send {
        let returned = (self.0)(request);
        async move { returned.await.into_result() }
    }

    fn on_error(
        &self,
        request: SyncRequest<P>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send {
        self.1.answer(request, error)
    }
}
