//! An operator with everything that the binary needs.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use operetta::operator::{AnyHandler, IntoHandler, OperatorConfig};

/// An operator: its configuration, its parent type, and its code.
pub struct Operator {
    /// Its name, types and limits.
    pub config: OperatorConfig,
    /// The CRD of its parent type.
    pub crd: CustomResourceDefinition,
    /// Its code.
    pub handler: AnyHandler,
}

impl Operator {
    /// An operator for a parent type that derives `CustomResource`.
    pub fn of<P: CustomResourceExt, Form>(
        config: OperatorConfig,
        handler: impl IntoHandler<Form>,
    ) -> Self {
        Self { config, crd: P::crd(), handler: handler.into_handler() }
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
