//! Operators that bring the CRD of their parents along.

use std::{any::type_name, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use super::{Definition, OperatorConfig};
use crate::object::{K8sType, ResourceScope};

impl OperatorConfig {
    /// An operator for a parent type of its own, which derives `CustomResource`. It brings the CRD along:
    /// [`manifests::crds`](crate::manifests::crds) makes it, and
    /// [`SupervisorBuilder::install_crds`](crate::supervisor::SupervisorBuilder::install_crds) installs it.
    pub fn custom<P>(name: &str) -> Self
    where
        P: CustomResourceExt + kube::Resource<DynamicType = ()>,
        P::Scope: ResourceScope,
    {
        let derived = Definition::Derived { rust_type: type_name::<P>(), make: P::crd };
        Self { definition: Some(derived), ..Self::new(name, K8sType::of::<P>()) }
    }

    /// Brings this CRD of the parent type along, for example one that was read from a file, or several versions that
    /// [`merge_crds`](kube::core::crd::merge_crds) made one.
    #[must_use]
    pub fn with_crd(self, crd: CustomResourceDefinition) -> Self {
        Self { definition: Some(Definition::Given(Arc::new(crd))), ..self }
    }
}
