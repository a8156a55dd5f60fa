//! Removes the definitions of the operators with their objects: on the real control plane, which the tests share, helm would
//! not take over those of other tests, and lists would show their objects.

use std::time::{Duration, Instant};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    },
};
use operators::crds;
use serde_json::json;

const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) async fn remove(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in crds().unwrap() {
        release(client, &definition).await;
        let name = definition.name_any();
        // It may not exist.
        let _ = definitions.delete(&name, &DeleteParams::default()).await;
        let is_gone = async || definitions.get_opt(&name).await.unwrap().is_none();
        until("the definition is removed", is_gone).await;
    }
}

/// Removes the finalizers of what killed operators have left.
async fn release(client: &Client, definition: &CustomResourceDefinition) {
    let spec = &definition.spec;
    let gvk = GroupVersionKind::gvk(&spec.group, &spec.versions[0].name, &spec.names.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &spec.names.plural);
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let without = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    // The type may not exist.
    for object in all.list(&ListParams::default()).await.into_iter().flatten() {
        let of = match object.namespace() {
            Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
            None => all.clone(),
        };
        // It may be gone.
        let _: kube::Result<DynamicObject> =
            of.patch(&object.name_any(), &PatchParams::default(), &without).await;
    }
}

pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < DEADLINE, "in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
