//! The `echo-server` operator of this repository: a Pod, which is replaced when the spec changes,
//! and a Service.

use ::operators::echo_server::EchoServer;
use k8s_openapi::{
    api::core::v1::{Pod, Service},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::CustomResourceExt;
use operetta::{
    object::K8sType,
    operator::{ChildConfig, OperatorConfig},
};
use serde_json::{Value, json};

use super::{ParentType, collection};

pub(super) const API_VERSION: &str = "example.operetta.dev/v1alpha1";
/// The label that follows the parent's spec.
const LABEL: &str = "app.kubernetes.io/name";

pub(super) fn config(name: &str, parent: K8sType) -> OperatorConfig {
    OperatorConfig::new(name, parent)
        .child::<Pod>(ChildConfig::recreate())
        .child::<Service>(ChildConfig::apply())
}

pub(super) fn spec(mark: &str) -> Value {
    json!({"serviceName": mark})
}

pub(super) fn children() -> Vec<String> {
    vec![collection("/api/v1", "pods"), watched()]
}

pub(super) fn watched() -> String {
    collection("/api/v1", "services")
}

pub(super) fn mark(service: &Value) -> Option<&str> {
    service["metadata"]["labels"][LABEL].as_str()
}

pub(super) fn edit(mark: &str) -> Value {
    json!({"metadata": {"labels": {LABEL: mark}}})
}

/// The operator's own definition under the names of `ty`.
pub(super) fn crd(ty: &ParentType) -> CustomResourceDefinition {
    let mut crd = EchoServer::crd();
    crd.metadata.name = Some(format!("{}.{}", ty.plural, crd.spec.group));
    let names = &mut crd.spec.names;
    names.kind.clone_from(&ty.kind);
    names.plural.clone_from(&ty.plural);
    names.singular = Some(ty.kind.to_lowercase());
    names.list_kind = Some(format!("{}List", ty.kind));
    names.short_names = None;
    crd
}
