//! A blocking function as a handler, and one for its errors.

use std::marker::PhantomData;

use anyhow::{Error, Result};

use super::{AnyHandler, Handler, HandlerResult, HasForm, IntoHandler, form};
use crate::operator::{ErrorResponse, Parent, Response, SyncRequest};

/// A function and what answers its errors, with the types of the parent, of what is returned and of the answer.
struct Functions<F, E, T>(F, E, PhantomData<fn() -> T>);

/// That of a function alone.
type NoAnswer = form::Answer<ErrorResponse>;

/// Answers the errors of a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer the errors of a blocking handler",
    label = "the second function of this pair has another form",
    note = "beside `fn(&SyncRequest<P>)`, the function for errors is \
            `fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`, with `operetta::anyhow::Error`"
)]
pub trait OnError<P, A> {
    /// The response to an error.
    fn answer(&self, request: &SyncRequest<P>, error: &Error) -> ErrorResponse;
}

#[diagnostic::do_not_recommend]
impl<E, P, R> OnError<P, form::Answer<R>> for E
where
    E: Fn(&SyncRequest<P>, &Error) -> R,
    R: Into<ErrorResponse>,
{
    fn answer(&self, request: &SyncRequest<P>, error: &Error) -> ErrorResponse {
        self(request, error).into()
    }
}

#[diagnostic::do_not_recommend]
impl<E: HasForm<form::Nothing>, P> OnError<P, form::Nothing> for E {
    fn answer(&self, _: &SyncRequest<P>, _: &Error) -> ErrorResponse {
        ErrorResponse::default()
    }
}

impl<F, P, O> IntoHandler<form::Function<P, O>> for F
where
    F: Fn(&SyncRequest<P>) -> O + Send + Sync + 'static,
    P: Parent,
    O: HandlerResult + 'static,
{
    type Role = <O::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        let default = |_: &SyncRequest<P>, _: &Error| ErrorResponse::default();
        AnyHandler::blocking(Functions::<_, _, (P, O, NoAnswer)>(self, default, PhantomData))
    }
}

impl<F, E, P, O, A> IntoHandler<form::Pair<P, O, A>> for (F, E)
where
    F: Fn(&SyncRequest<P>) -> O + Send + Sync + 'static,
    P: Parent,
    O: HandlerResult + 'static,
    E: OnError<P, A> + Send + Sync + 'static,
    A: 'static,
{
    type Role = <O::Response as Response>::Role;

    fn into_handler(self) -> AnyHandler<Self::Role> {
        AnyHandler::blocking(Functions::<_, _, (P, O, A)>(self.0, self.1, PhantomData))
    }
}

impl<F, E, P, O, A> Handler for Functions<F, E, (P, O, A)>
where
    F: Fn(&SyncRequest<P>) -> O + Send + Sync + 'static,
    E: OnError<P, A> + Send + Sync + 'static,
    P: Parent,
    O: HandlerResult + 'static,
    A: 'static,
{
    type Parent = P;
    type Response = O::Response;

    fn sync(&self, request: &SyncRequest<P>) -> Result<O::Response> {
        (self.0)(request).into_result()
    }

    fn on_error(&self, request: &SyncRequest<P>, error: &Error) -> ErrorResponse {
        self.1.answer(request, error)
    }
}
