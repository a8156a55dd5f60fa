//! An operator with everything that the binary needs.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use operetta::operator::{AnyHandler, IntoHandler, OperatorConfig};

/// An operator: its configuration, the CRD of its parent type, and its code.
pub struct Operator {
    /// Its name, types and limits.
    pub config: OperatorConfig,
    /// The CRD of its parent type; `None` for a decorator, whose parents others define.
    pub crd: Option<CustomResourceDefinition>,
    /// Its code.
    pub handler: AnyHandler,
}

impl Operator {
    /// An operator for a parent type that derives `CustomResource`.
    pub fn of<P: CustomResourceExt, Form>(
        config: OperatorConfig,
        handler: impl IntoHandler<Form>,
    ) -> Self {
        Self { config, crd: Some(P::crd()), handler: handler.into_handler() }
    }

    /// An operator for a parent type that others define.
    pub fn decorator<Form>(config: OperatorConfig, handler: impl IntoHandler<Form>) -> Self {
        Self { config, crd: None, handler: handler.into_handler() }
    }

    /// The operator within these namespaces; `None` if its parents have no namespace.
    #[must_use]
    pub fn within(self, namespaces: &[String]) -> Option<Self> {
        let Self { config, crd, handler } = self;
        let is_namespaced = config.parent.is_namespaced();
        let config = config.within_namespaces(namespaces.iter().cloned());
        is_namespaced.then_some(Self { config, crd, handler })
    }

    /// The parts that a supervisor registers.
    pub fn into_parts(self) -> (OperatorConfig, AnyHandler) {
        (self.config, self.handler)
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, crd, handler: _ } = self;
        f.debug_struct("Operator").field("config", config).field("crd", crd).finish_non_exhaustive()
    }
}
