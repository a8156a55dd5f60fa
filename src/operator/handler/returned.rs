//! What the function of a handler returns.

use std::future::Future;

use anyhow::{Error, Result};

use crate::operator::Response;

/// A [`Result`] with a [`Response`].
#[diagnostic::on_unimplemented(
    message = "the handler returns `{Self}`, and not `Result<SyncResponse>`",
    label = "this handler returns something else than a handler does",
    note = "write `-> Result<SyncResponse<S>>` with the `Result` of `operetta::prelude`, and return `Ok(response)`",
    note = "the error of this `Result` is `anyhow::Error`, which `?` makes of any other"
)]
pub trait HandlerResult {
    /// The response.
    type Response: Response;

    /// The same as its type.
    fn into_result(self) -> Result<Self::Response>;
}

impl<S: Response> HandlerResult for Result<S, Error> {
    type Response = S;

    fn into_result(self) -> Self {
        self
    }
}

/// A future, which a function returns that takes the request by value.
#[diagnostic::on_unimplemented(
    message = "the handler takes the request by value, and returns `{Self}`, which is no future",
    label = "this handler takes the request as an `async fn` does, and is none",
    note = "a handler that blocks takes the request by reference: \
            `fn(request: &SyncRequest<P>) -> Result<SyncResponse<S>>`",
    note = "one that awaits is `async fn(request: SyncRequest<P>) -> Result<SyncResponse<S>>`",
    note = "a closure says its types: `|request: &SyncRequest<P>| -> Result<SyncResponse> {{ .. }}`"
)]
pub trait Awaited: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> Awaited for F {}
