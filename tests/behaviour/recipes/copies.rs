//! Objects that were read from the server, as children.

use k8s_openapi::api::core::v1::{Secret, Service};
use operetta::{object::Object, operator::with_related, prelude::*, recipes::ObjectCopy};
use serde_json::json;

use super::config;
use crate::{
    recipe::{RECIPE, recipe},
    world::{SECRET, SERVICE, World},
};

/// Copies a Service and a Secret of the same name under another name.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let service = request.related_object::<Service>("source")?.map(ObjectCopy::of).transpose()?;
    let secret = request.related_object::<Secret>("source")?.map(ObjectCopy::of).transpose()?;
    let copies = [service, secret].into_iter().flatten().map(|copy| copy.named("copy"));
    Ok(SyncResponse::status(json!({})).children(copies))
}

fn related(_: &Object) -> Related {
    Related::new().named::<Service>("source").named::<Secret>("source")
}

#[operetta_harness::test(server)]
async fn a_copy_of_what_the_server_filled_in_is_written_as_a_child_of_its_own() {
    let world = World::new().await;
    let metadata = json!({
        "name": "source", "labels": {"app.kubernetes.io/managed-by": "Helm", "app": "a"},
        "finalizers": ["test.operetta.dev/kept"],
    });
    let ports = json!([{"name": "web", "port": 80}]);
    let service =
        json!({"metadata": {"name": "source"}, "spec": {"type": "NodePort", "ports": ports}});
    let service = world.apply(SERVICE, service).await;
    let secret = world.apply(SECRET, json!({"metadata": metadata, "stringData": {"a": "b"}})).await;
    let config = config("copier").related::<Service>().related::<Secret>();
    let operators =
        world.start(|builder| builder.register(config, with_related(sync, related))).await;
    let parent = world.apply(RECIPE, recipe("r", &[])).await;
    world.until_synced(RECIPE, "r").await;
    let copies = [world.get(SERVICE, "copy").await, world.get(SECRET, "copy").await];
    for copy in &copies {
        assert_eq!(copy["metadata"]["ownerReferences"][0]["uid"], parent["metadata"]["uid"]);
        assert_eq!(copy["metadata"]["labels"]["app.kubernetes.io/managed-by"], "copier");
        assert!(copy["metadata"]["finalizers"].is_null(), "{copy}");
    }
    assert_ne!(copies[0]["spec"]["clusterIP"], service["spec"]["clusterIP"]);
    assert_ne!(copies[0]["spec"]["ports"][0]["nodePort"], service["spec"]["ports"][0]["nodePort"]);
    assert_eq!(copies[0]["spec"]["ports"][0]["name"], "web");
    assert_eq!(
        (&copies[1]["data"], &copies[1]["metadata"]["labels"]["app"]),
        (&secret["data"], &json!("a"))
    );
    operators.settled().await;
    operators.stop().await;
    world.patch(SECRET, "source", json!({"metadata": {"finalizers": null}})).await;
}
