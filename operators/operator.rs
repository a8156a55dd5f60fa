//! One operator with everything that the binary needs of it.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use operetta::operator::{Handler, OperatorConfig};

/// One operator: what it answers for, the type that it answers for, and its code.
pub struct Operator {
    /// Its name, types and limits.
    pub config: OperatorConfig,
    /// The definition of its parent type.
    pub crd: CustomResourceDefinition,
    /// Its code.
    pub handler: Box<dyn Handler>,
}

impl Operator {
    /// An operator for a parent type that derives `CustomResource`.
    pub fn of<P: CustomResourceExt>(config: OperatorConfig, handler: impl Handler) -> Self {
        Self { config, crd: P::crd(), handler: Box::new(handler) }
    }

    /// What a supervisor registers.
    pub fn into_parts(self) -> (OperatorConfig, impl Handler) {
        (self.config, self.handler)
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, crd, handler: _ } = self;
        f.debug_struct("Operator").field("config", config).field("crd", crd).finish_non_exhaustive()
    }
}
