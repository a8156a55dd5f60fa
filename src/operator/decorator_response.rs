//! The output of the handler of a decorator.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{Decoration, EventType, Shallow, SyncResponse};

/// What a decorator adds to its parent: children, and what it puts on the parent itself. Made by
/// [`SyncResponse::decorating`]. `Debug` shows no content.
///
/// Only a decorator can be registered with a handler that returns it. As JSON it has `labels`, `annotations` and
/// `replicas` beside the fields of the [`SyncResponse`].
#[derive(Clone, PartialEq, Serialize)]
pub struct DecoratorResponse<S = Value> {
    /// The children, and the status fields, which are written by a decorator with
    /// [`with_status_fields`](super::OperatorConfig::with_status_fields).
    #[serde(flatten)]
    pub response: SyncResponse<S>,
    /// What is put on the parent.
    #[serde(flatten)]
    pub decoration: Decoration,
}

impl<S> SyncResponse<S> {
    /// Puts labels, annotations or replicas on the parent, for a decorator.
    ///
    /// ```
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use operetta::{operator::{Decoration, DecoratorResponse}, prelude::*};
    ///
    /// fn sync(_: &SyncRequest<Deployment>) -> Result<DecoratorResponse> {
    ///     Ok(SyncResponse::new().decorating(Decoration::new().label("example.com/noted", "true")))
    /// }
    ///
    /// let config = OperatorConfig::decorates::<Deployment>("notes");
    /// let builder = Supervisor::builder().register(config, sync);
    /// # drop(builder);
    /// ```
    ///
    /// An operator that owns its parents writes their status instead, so that this does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use k8s_openapi::api::apps::v1::Deployment;
    /// # use operetta::{operator::{Decoration, DecoratorResponse}, prelude::*};
    /// # fn sync(_: &SyncRequest<Deployment>) -> Result<DecoratorResponse> {
    /// #     Ok(SyncResponse::new().decorating(Decoration::new().label("example.com/noted", "true")))
    /// # }
    /// let config = OperatorConfig::of::<Deployment>("notes");
    /// let builder = Supervisor::builder().register(config, sync);
    /// ```
    pub fn decorating(self, decoration: Decoration) -> DecoratorResponse<S> {
        DecoratorResponse { response: self, decoration }
    }
}

impl<S> DecoratorResponse<S> {
    /// Records an Event about the parent, see [`SyncResponse::event`].
    #[must_use]
    pub fn event(
        self,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { response: self.response.event(event_type, reason, message), ..self }
    }
}

/// Nothing is put on the parent.
impl<S> From<SyncResponse<S>> for DecoratorResponse<S> {
    fn from(response: SyncResponse<S>) -> Self {
        response.decorating(Decoration::new())
    }
}

impl Shallow for DecoratorResponse {
    fn shallow(self) -> Self {
        Self { response: self.response.shallow(), ..self }
    }
}

impl<S> fmt::Debug for DecoratorResponse<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { response, decoration } = self;
        write!(f, "DecoratorResponse({response:?}, {decoration:?})")
    }
}
