//! An operator with everything that the binary needs.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use operetta::operator::{
    AnyOperator, Decorates, DecoratorConfig, Fits, IntoHandler, OperatorConfig, Owns,
};

/// An operator: its configuration and code, and the CRD of its parent type.
pub struct Operator {
    /// Its name, types and limits, and its code.
    pub operator: AnyOperator,
    /// The CRD of its parent type; `None` for a decorator, whose parents others define.
    pub crd: Option<CustomResourceDefinition>,
}

impl Operator {
    /// An operator for a parent type that derives `CustomResource`.
    pub fn of<P: CustomResourceExt, Form>(
        config: OperatorConfig,
        handler: impl IntoHandler<Form, Role = Owns>,
    ) -> Self {
        Self { operator: AnyOperator::new(config, handler), crd: Some(P::crd()) }
    }

    /// An operator for a parent type that others define.
    pub fn decorator<Form, H>(config: DecoratorConfig, handler: H) -> Self
    where
        H: IntoHandler<Form>,
        H::Role: Fits<Decorates>,
    {
        Self { operator: AnyOperator::new(config, handler), crd: None }
    }

    /// The operator within these namespaces; `None` if its parents have no namespace.
    #[must_use]
    pub fn within(self, namespaces: &[String]) -> Option<Self> {
        let Self { operator, crd } = self;
        let is_namespaced = operator.config().parent().is_namespaced();
        let operator = operator.within_namespaces(namespaces.iter().cloned());
        is_namespaced.then_some(Self { operator, crd })
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, crd } = self;
        f.debug_struct("Operator").field("operator", operator).field("crd", crd).finish()
    }
}
