//! Reads and writes objects of any type, as JSON.

use anyhow::{Context, Error};
use kube::{
    Client,
    api::{DeleteParams, PostParams},
    core::request::Request,
};
use serde_json::Value;

use crate::{
    k8s_types::K8sType,
    resource::{ObjectIdRef, ResourceJson},
};

pub(super) async fn get(
    client: &Client,
    ty: &K8sType,
    id: &ObjectIdRef<'_>,
) -> Result<Option<Value>, Error> {
    let request = Request::new(url(ty, id.namespace())).get(id.name(), &<_>::default())?;
    match client.request(request).await {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {ty} {id}")),
    }
}

pub(super) async fn create(client: &Client, ty: &K8sType, object: &Value) -> Result<(), Error> {
    let request = Request::new(url(ty, object.get_namespace()));
    let request = request.create(&PostParams::default(), serde_json::to_vec(object)?)?;
    let name = object.get_name().unwrap_or_default();
    sent(client, request).await.with_context(|| format!("cannot create {ty} {name}"))
}

pub(super) async fn replace(
    client: &Client,
    ty: &K8sType,
    id: &ObjectIdRef<'_>,
    object: &Value,
) -> Result<(), Error> {
    let request = Request::new(url(ty, id.namespace()));
    let request =
        request.replace(id.name(), &PostParams::default(), serde_json::to_vec(object)?)?;
    sent(client, request).await.with_context(|| format!("cannot replace {ty} {id}"))
}

pub(super) async fn delete(
    client: &Client,
    ty: &K8sType,
    id: &ObjectIdRef<'_>,
) -> Result<(), Error> {
    let request = Request::new(url(ty, id.namespace()));
    let request = request.delete(id.name(), &DeleteParams::background())?;
    sent(client, request).await.with_context(|| format!("cannot delete {ty} {id}"))
}

/// The reply is the object, or a `Status`.
async fn sent(client: &Client, request: http::Request<Vec<u8>>) -> Result<(), Error> {
    client.request::<Value>(request).await?;
    Ok(())
}

fn url(ty: &K8sType, namespace: Option<&str>) -> String {
    let root = if ty.group().is_empty() { "api" } else { "apis" };
    let K8sType { api_version, plural_kind, kind: _ } = ty;
    match namespace {
        Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural_kind}"),
        None => format!("/{root}/{api_version}/{plural_kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s_types::{apps, core};

    #[test]
    fn an_object_without_a_namespace_is_cluster_scoped() {
        assert_eq!(url(core::v1::Namespace, None), "/api/v1/namespaces");
        let url = url(apps::v1::Deployment, Some("a"));
        assert_eq!(url, "/apis/apps/v1/namespaces/a/deployments");
    }
}
