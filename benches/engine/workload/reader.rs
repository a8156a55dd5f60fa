//! An operator whose parents read related objects: the Secret of their name, and a `ConfigMap` that they
//! share. The child shows the mark of both.

use anyhow::Result;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use operetta::{
    object::{K8sType, Object},
    operator::{ChildConfig, OperatorConfig, Related, SyncRequest, SyncResponse},
};
use serde_json::json;

use super::{ParentType, collection, trio};

pub(super) const API_VERSION: &str = trio::API_VERSION;
/// The object that many parents read.
pub(crate) const SHARED: &str = "shared";

pub(super) fn config(name: &str, parent: K8sType) -> OperatorConfig {
    OperatorConfig::new(name, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .related::<Secret>()
        .related::<ConfigMap>()
}

/// The `mark` of a parent says what it reads.
pub(super) fn related(parent: &Object) -> Related {
    let mark = parent.field("spec").unwrap_or_default()["mark"].take();
    match mark.as_str() {
        Some("secret") => Related::new().named::<Secret>(parent.name()),
        Some(SHARED) => Related::new().named::<ConfigMap>(SHARED),
        _ => Related::new(),
    }
}

pub(super) fn sync(request: &SyncRequest) -> SyncResponse {
    let own = request.parent.field("spec").unwrap_or_default()["mark"].take();
    let shared = request.related_of_type(("v1", "ConfigMap")).first();
    let shared = shared.and_then(|shared| shared.field("data")).unwrap_or_default()["mark"].take();
    let mark = shared.as_str().or(own.as_str()).unwrap_or_default();
    SyncResponse::status(json!({"children": request.children.len()})).child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("{}-child", request.parent.name())},
        "data": {"mark": mark},
    }))
}

pub(super) fn children() -> Vec<String> {
    vec![collection("/api/v1", "configmaps")]
}

pub(crate) fn secrets() -> String {
    collection("/api/v1", "secrets")
}

pub(super) fn crd(ty: &ParentType) -> Result<CustomResourceDefinition> {
    trio::crd(ty)
}
