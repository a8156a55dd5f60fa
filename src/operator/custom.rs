//! Operators that bring the CRD of their parents along.

use std::{any::type_name, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use super::{Definition, OperatorConfig};
use crate::object::{K8sType, TypedResource};

/// A type that `#[derive(CustomResource)]` makes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not derive `CustomResource`",
    label = "this is not a custom resource of the program",
    note = "name the type that `#[derive(CustomResource)]` makes, which has the name of its `kind`: the struct that \
            derives it is the `spec`",
    note = "for a type that is defined elsewhere, such as a `ConfigMap`, write `OperatorConfig::of::<P>(..)`"
)]
pub trait CustomType: CustomResourceExt + TypedResource {}

#[diagnostic::do_not_recommend]
impl<P: CustomResourceExt + TypedResource> CustomType for P {}

impl OperatorConfig {
    /// An operator for a parent type of its own, which derives `CustomResource`. It brings the CRD along:
    /// [`manifests::crds`](crate::manifests::crds) makes it, and
    /// [`SupervisorBuilder::install_crds`](crate::supervisor::SupervisorBuilder::install_crds) installs it.
    pub fn custom<P>(name: &str) -> Self
    where
        P: CustomType,
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
