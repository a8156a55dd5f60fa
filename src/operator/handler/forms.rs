//! The forms in which a handler can be registered.

use std::{future::Future, marker::PhantomData, sync::Arc};

use anyhow::{Error, Result};

use super::{AnyHandler, AsyncHandler, Handler};
use crate::operator::{ErrorResponse, Parent, Response, Role, SyncRequest};

/// What can be registered as a handler. `Form` is inferred.
///
/// - A function `fn(&SyncRequest<P>) -> Result<SyncResponse<S>>`, which may block.
/// - A function `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`.
/// - A pair of functions: the second answers an error of the first, see [`Handler::on_error`].
///   Beside a blocking function it is `fn(&SyncRequest<P>, &Error) -> impl Into<ErrorResponse>`;
///   beside an asynchronous one it is that, or an
///   `async fn(SyncRequest<P>, Arc<Error>) -> impl Into<ErrorResponse>`.
/// - Two functions with a finalizer, by [`with_finalizer`](super::with_finalizer).
/// - Any of these with a function that names related objects, by [`with_related`](super::with_related).
/// - Anything that implements [`Handler`] or [`AsyncHandler`], and an [`AnyHandler`].
///
/// `P` is a kube resource, or [`Object`](crate::object::Object), which is the default; `S` is any
/// status that can be serialized. A decorator may return a
/// [`DecoratorResponse<S>`](crate::operator::DecoratorResponse) instead.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::{anyhow::Error, operator::{ErrorResponse, IntoHandler}, prelude::*};
/// use serde::Serialize;
/// use serde_json::{Value, json};
///
/// #[derive(Serialize)]
/// struct Size {
///     keys: usize,
/// }
///
/// fn blocking(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse<Size>> {
///     let keys = request.parent.data.as_ref().map_or(0, |data| data.len());
///     Ok(SyncResponse::status(Size { keys }))
/// }
///
/// async fn asynchronous(request: SyncRequest) -> Result<SyncResponse<Value>> {
///     Err(Error::msg(format!("{} is not reachable", request.parent.name())))
/// }
///
/// fn on_error(_: &SyncRequest, error: &Error) -> ErrorResponse {
///     ErrorResponse::status(json!({"phase": "Error", "message": error.to_string()}))
/// }
///
/// async fn ask(_: SyncRequest, error: Arc<Error>) -> ErrorResponse {
///     ErrorResponse::status(json!({"message": error.to_string()}))
/// }
///
/// fn is_handler<Form>(_: impl IntoHandler<Form>) {}
/// is_handler(blocking);
/// is_handler(asynchronous);
/// is_handler((asynchronous, on_error));
/// is_handler((asynchronous, ask));
/// is_handler(blocking.into_handler());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    note = "a handler is `fn(&SyncRequest<P>) -> Result<SyncResponse<S>>`, \
            `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`, a pair of one and its `on_error`, \
            or implements `Handler` or `AsyncHandler`",
    note = "`AnyHandler::blocking(..)` and `AnyHandler::asynchronous(..)` show what does not fit"
)]
pub trait IntoHandler<Form> {
    /// The role of the operators whose handler it is: [`Decorates`](crate::operator::Decorates) if it returns a
    /// [`DecoratorResponse`](crate::operator::DecoratorResponse), else [`Owns`](crate::operator::Owns).
    type Role: Role;

    /// The handler without its type.
    fn into_handler(self) -> AnyHandler<Self::Role>;
}

/// Names the forms of [`IntoHandler`], so that each can be implemented for functions.
pub mod form {
    use std::marker::PhantomData;

    /// It is an [`AnyHandler`](super::AnyHandler).
    #[derive(Debug)]
    pub struct Any;
    /// It implements [`Handler`](super::Handler).
    #[derive(Debug)]
    pub struct Blocking;
    /// It implements [`AsyncHandler`](super::AsyncHandler).
    #[derive(Debug)]
    pub struct Async;
    /// A blocking function.
    #[derive(Debug)]
    pub struct Function<P, S>(PhantomData<(P, S)>);
    /// A blocking function and one for its errors.
    #[derive(Debug)]
    pub struct Pair<P, S, R>(PhantomData<(P, S, R)>);
    /// An asynchronous function.
    #[derive(Debug)]
    pub struct AsyncFunction<P, S>(PhantomData<(P, S)>);
    /// An asynchronous function and a blocking one for its errors.
    #[derive(Debug)]
    pub struct AsyncBlocking<P, S, R>(PhantomData<(P, S, R)>);
    /// Two asynchronous functions.
    #[derive(Debug)]
    pub struct AsyncPair<P, S, R>(PhantomData<(P, S, R)>);
}

/// A function and what answers its errors, with the types of the parent and the status.
struct Functions<F, E, T>(F, E, PhantomData<fn() -> T>);

impl<F, E, T> Functions<F, E, T> {
    fn new(sync: F, on_error: E) -> Self {
        Self(sync, on_error, PhantomData)
    }
}

impl<R: Role> IntoHandler<form::Any> for AnyHandler<R> {
    type Role = R;

    fn into_handler(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<H: Handler> IntoHandler<form::Blocking> for H {
    type Role = <H::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::blocking(self)
    }
}

#[diagnostic::do_not_recommend]
impl<H: AsyncHandler> IntoHandler<form::Async> for H {
    type Role = <H::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::asynchronous(self)
    }
}

#[diagnostic::do_not_recommend]
impl<F, P, S> IntoHandler<form::Function<P, S>> for F
where
    F: Fn(&SyncRequest<P>) -> Result<S> + Send + Sync + 'static,
    P: Parent,
    S: Response,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        let default = |_: &SyncRequest<P>, _: &Error| ErrorResponse::default();
        AnyHandler::blocking(Functions::<_, _, (P, S, ErrorResponse)>::new(self, default))
    }
}

#[diagnostic::do_not_recommend]
impl<F, E, P, S, R> IntoHandler<form::Pair<P, S, R>> for (F, E)
where
    F: Fn(&SyncRequest<P>) -> Result<S> + Send + Sync + 'static,
    E: Fn(&SyncRequest<P>, &Error) -> R + Send + Sync + 'static,
    P: Parent,
    S: Response,
    R: Into<ErrorResponse> + 'static,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        AnyHandler::blocking(Functions::<_, _, (P, S, R)>::new(self.0, self.1))
    }
}

impl<F, E, P, S, R> Handler for Functions<F, E, (P, S, R)>
where
    F: Fn(&SyncRequest<P>) -> Result<S> + Send + Sync + 'static,
    E: Fn(&SyncRequest<P>, &Error) -> R + Send + Sync + 'static,
    P: Parent,
    S: Response,
    R: Into<ErrorResponse> + 'static,
{
    type Parent = P;
    type Response = S;

    fn sync(&self, request: &SyncRequest<P>) -> Result<S> {
        (self.0)(request)
    }

    fn on_error(&self, request: &SyncRequest<P>, error: &Error) -> ErrorResponse {
        (self.1)(request, error).into()
    }
}

/// An asynchronous function and what answers its errors.
struct AsyncFunctions<F, E, T>(F, E, PhantomData<fn() -> T>);

impl<F, E, T> AsyncFunctions<F, E, T> {
    fn new(sync: F, on_error: E) -> Self {
        Self(sync, on_error, PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, P, S> IntoHandler<form::AsyncFunction<P, S>> for F
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<S>> + Send + 'static,
    P: Parent,
    S: Response + Send,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        let default =
            |_: SyncRequest<P>, _: Arc<Error>| std::future::ready(ErrorResponse::default());
        AnyHandler::asynchronous(AsyncFunctions::<_, _, (P, S)>::new(self, default))
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, E, P, S, R> IntoHandler<form::AsyncBlocking<P, S, R>> for (F, E)
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<S>> + Send + 'static,
    E: Fn(&SyncRequest<P>, &Error) -> R + Send + Sync + 'static,
    P: Parent,
    S: Response + Send,
    R: Into<ErrorResponse> + 'static,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        let (sync, answer) = self;
        let on_error = move |request: SyncRequest<P>, error: Arc<Error>| {
            std::future::ready(answer(&request, &error).into())
        };
        AnyHandler::asynchronous(AsyncFunctions::<_, _, (P, S)>::new(sync, on_error))
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, E, Answer, P, S, R> IntoHandler<form::AsyncPair<P, S, R>> for (F, E)
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<S>> + Send + 'static,
    E: Fn(SyncRequest<P>, Arc<Error>) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = R> + Send + 'static,
    P: Parent,
    S: Response + Send,
    R: Into<ErrorResponse> + 'static,
{
    type Role = S::Role;

    fn into_handler(self) -> AnyHandler<S::Role> {
        let (sync, answer) = self;
        let on_error = move |request: SyncRequest<P>, error: Arc<Error>| {
            let answered = answer(request, error);
            async move { answered.await.into() }
        };
        AnyHandler::asynchronous(AsyncFunctions::<_, _, (P, S)>::new(sync, on_error))
    }
}

impl<F, Fut, E, Answer, P, S> AsyncHandler for AsyncFunctions<F, E, (P, S)>
where
    F: Fn(SyncRequest<P>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<S>> + Send + 'static,
    E: Fn(SyncRequest<P>, Arc<Error>) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = ErrorResponse> + Send + 'static,
    P: Parent,
    S: Response + Send,
{
    type Parent = P;
    type Response = S;

    fn sync(&self, request: SyncRequest<P>) -> impl Future<Output = Result<S>> + Send {
        (self.0)(request)
    }

    fn on_error(
        &self,
        request: SyncRequest<P>,
        error: Arc<Error>,
    ) -> impl Future<Output = ErrorResponse> + Send {
        (self.1)(request, error)
    }
}
