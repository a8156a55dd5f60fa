//! What an operator is to its parents, as a type, so that what cannot work does not compile.
//!
//! ```text
//! handler -> Response { Role }    Role: Fits<R>    OperatorConfig<R>
//! ```

use std::fmt::Debug;

use serde::Serialize;

use super::{DecoratorResponse, SyncResponse};

/// What an operator is to its parents: it [`Owns`] them, or [`Decorates`] those that others own.
pub trait Role: Debug + Clone + Send + Sync + sealed::Narrowed {
    /// What [`Handler::sync`](super::Handler::sync) returns, with its status as JSON.
    type Response;
}

/// The operator owns its parents: it writes their status. See
/// [`OperatorConfig::of`](super::OperatorConfig::of).
#[derive(Debug, Clone, Copy)]
pub enum Owns {}

/// Others own the parents, see [`OperatorConfig::decorates`](super::OperatorConfig::decorates).
#[derive(Debug, Clone, Copy)]
pub enum Decorates {}

/// The role of an operator that has the options of decorators.
#[diagnostic::on_unimplemented(
    message = "this option is for decorators, and the operator owns its parents",
    label = "an option of decorators",
    note = "make the configuration with `OperatorConfig::decorates::<P>(..)` or `OperatorConfig::decorating(..)`, or \
            remove the option"
)]
pub trait DecoratorRole: Role {}

/// A handler for operators of this role can be registered with an operator of the role `R`.
#[diagnostic::on_unimplemented(
    message = "the handler returns a `DecoratorResponse`, and the operator owns its parents",
    label = "it puts labels, annotations or replicas on parents that the operator owns",
    note = "make the configuration with `OperatorConfig::decorates::<P>(..)` or \
            `OperatorConfig::decorating(..)`, or return a `SyncResponse`"
)]
pub trait Fits<R: Role>: Role {}

/// What a handler returns: a [`SyncResponse`], or for a decorator a [`DecoratorResponse`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the response of a handler",
    note = "a handler returns `SyncResponse<S>`, or for a decorator `DecoratorResponse<S>`; the status `S` \
            implements `serde::Serialize`"
)]
pub trait Response: sealed::Untyped {
    /// Whose handlers return it.
    type Role: Role;
    /// The type of the status.
    type Status: Serialize;
}

pub(crate) mod sealed {
    use super::DecoratorResponse;

    pub trait Narrowed: Sized + 'static {
        /// What the handler returned; other parts are dropped.
        fn narrowed(response: DecoratorResponse) -> <Self as super::Role>::Response
        where
            Self: super::Role;
    }

    pub trait Untyped: Sized + 'static {
        /// The response with its status as JSON.
        fn untyped(self) -> DecoratorResponse;
    }
}

// === Owns ===

impl Role for Owns {
    type Response = SyncResponse;
}

impl sealed::Narrowed for Owns {
    fn narrowed(response: DecoratorResponse) -> SyncResponse {
        response.response
    }
}

impl Fits<Owns> for Owns {}

impl Fits<Decorates> for Owns {}

impl<S: Serialize + 'static> Response for SyncResponse<S> {
    type Role = Owns;
    type Status = S;
}

impl<S: Serialize + 'static> sealed::Untyped for SyncResponse<S> {
    fn untyped(self) -> DecoratorResponse {
        SyncResponse::untyped(self).into()
    }
}

// === Decorates ===

impl Role for Decorates {
    type Response = DecoratorResponse;
}

impl sealed::Narrowed for Decorates {
    fn narrowed(response: DecoratorResponse) -> DecoratorResponse {
        response
    }
}

impl Fits<Decorates> for Decorates {}

impl DecoratorRole for Decorates {}

impl<S: Serialize + 'static> Response for DecoratorResponse<S> {
    type Role = Decorates;
    type Status = S;
}

impl<S: Serialize + 'static> sealed::Untyped for DecoratorResponse<S> {
    fn untyped(self) -> DecoratorResponse {
        let Self { response, decoration } = self;
        DecoratorResponse { response: response.untyped(), decoration }
    }
}
