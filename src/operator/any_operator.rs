//! An operator whose role and types are forgotten.

use super::{AnyHandler, Fits, HasForm, IntoHandler, OperatorConfig, Role};

/// A configuration with a handler that it accepts, for example in a list of owners and decorators. See
/// [`SupervisorBuilder::register_any`](crate::supervisor::SupervisorBuilder::register_any).
#[derive(Debug, Clone)]
pub struct AnyOperator {
    pub(crate) config: OperatorConfig,
    pub(crate) handler: AnyHandler,
}

impl AnyOperator {
    /// Forgets the role of the configuration and the types of the handler.
    pub fn new<R: Role, Form, H>(config: OperatorConfig<R>, handler: H) -> Self
    where
        H: HasForm<Form> + IntoHandler<Form>,
        H::Role: Fits<R>,
    {
        Self { config: config.erased(), handler: handler.into_handler().erased() }
    }

    /// Its configuration. As a value of its own it is registered as that of an operator that owns its parents: with
    /// handlers that return a [`SyncResponse`](super::SyncResponse).
    pub fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// See [`OperatorConfig::within_namespaces`].
    #[must_use]
    pub fn within_namespaces<N: Into<String>>(
        self,
        namespaces: impl IntoIterator<Item = N>,
    ) -> Self {
        Self { config: self.config.within_namespaces(namespaces), ..self }
    }
}
