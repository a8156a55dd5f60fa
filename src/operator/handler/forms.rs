//! The forms in which a handler can be registered.

use super::{AnyHandler, AsyncHandler, Handler};
use crate::operator::{Response, Role, SyncRequest};

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
    label = "this has none of the forms of a handler",
    note = "a handler that blocks is `fn(&SyncRequest<P>) -> Result<SyncResponse<S>>`",
    note = "one that awaits is `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`, with the request by value",
    note = "a closure says its types: `|request: &SyncRequest<P>| -> Result<SyncResponse> {{ .. }}`",
    note = "a pair is `(sync, on_error)`, and `with_finalizer(sync, finalize)` takes two functions",
    note = "a struct implements `Handler` or `AsyncHandler`, and is passed by value"
)]
pub trait IntoHandler<Form>: HasForm<Form> {
    /// The role of the operators whose handler it is: [`Decorates`](crate::operator::Decorates) if it returns a
    /// [`DecoratorResponse`](crate::operator::DecoratorResponse), else [`Owns`](crate::operator::Owns).
    type Role: Role;

    /// The handler without its type.
    fn into_handler(self) -> AnyHandler<Self::Role>;
}

/// What distinguishes the forms of [`IntoHandler`]: the parameters of a function, and not its result.
///
/// Whatever takes a handler asks for this first. The form is then known, and the compiler says what is wrong with
/// the rest of it, instead of that there is no form at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "this has none of the forms of a handler",
    note = "a handler that blocks is `fn(&SyncRequest<P>) -> Result<SyncResponse<S>>`",
    note = "one that awaits is `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`, with the request by value",
    note = "a closure says its types: `|request: &SyncRequest<P>| -> Result<SyncResponse> {{ .. }}`",
    note = "a pair is `(sync, on_error)`, and `with_finalizer(sync, finalize)` takes two functions",
    note = "a struct implements `Handler` or `AsyncHandler`, and is passed by value"
)]
pub trait HasForm<Form> {}

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
    /// A blocking function, by its parent and what it returns.
    #[derive(Debug)]
    pub struct Function<P, O>(PhantomData<(P, O)>);
    /// A blocking function and one for its errors.
    #[derive(Debug)]
    pub struct Pair<P, O, A>(PhantomData<(P, O, A)>);
    /// An asynchronous function, by its parent and its future.
    #[derive(Debug)]
    pub struct AsyncFunction<P, Fut>(PhantomData<(P, Fut)>);
    /// An asynchronous function and one for its errors.
    #[derive(Debug)]
    pub struct AsyncPair<P, Fut, A>(PhantomData<(P, Fut, A)>);
    /// That of nothing. A function beside a handler may have it too, in the eyes of the compiler, which then says
    /// what the function is for, and not only which of its arguments is wrong.
    #[derive(Debug)]
    pub struct Nothing;
    /// A blocking function for errors.
    #[derive(Debug)]
    pub struct Answer<R>(PhantomData<R>);
    /// An asynchronous function for errors.
    #[derive(Debug)]
    pub struct AsyncAnswer<R>(PhantomData<R>);
}

impl<R> HasForm<form::Any> for AnyHandler<R> {}

impl<R: Role> IntoHandler<form::Any> for AnyHandler<R> {
    type Role = R;

    fn into_handler(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<H: Handler> HasForm<form::Blocking> for H {}

#[diagnostic::do_not_recommend]
impl<H: Handler> IntoHandler<form::Blocking> for H {
    type Role = <H::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::blocking(self)
    }
}

#[diagnostic::do_not_recommend]
impl<H: AsyncHandler> HasForm<form::Async> for H {}

#[diagnostic::do_not_recommend]
impl<H: AsyncHandler> IntoHandler<form::Async> for H {
    type Role = <H::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::asynchronous(self)
    }
}

#[diagnostic::do_not_recommend]
impl<F, P, O> HasForm<form::Function<P, O>> for F where F: Fn(&SyncRequest<P>) -> O {}

#[diagnostic::do_not_recommend]
impl<F, E, P, O, A> HasForm<form::Pair<P, O, A>> for (F, E) where F: Fn(&SyncRequest<P>) -> O {}

#[diagnostic::do_not_recommend]
impl<F, P, Fut> HasForm<form::AsyncFunction<P, Fut>> for F where F: Fn(SyncRequest<P>) -> Fut {}

#[diagnostic::do_not_recommend]
impl<F, E, P, Fut, A> HasForm<form::AsyncPair<P, Fut, A>> for (F, E) where
    F: Fn(SyncRequest<P>) -> Fut
{
}
