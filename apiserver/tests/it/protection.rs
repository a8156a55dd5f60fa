//! Volumes and claims in use are held, all others are let go, and a namespace says what holds it.

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::common::{api, create, gone, server};

fn claim(name: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    })
}

fn volume(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/x"},
        },
    })
}

fn pod(name: &str, claim: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeName": node, "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}],
        },
    })
}

/// Watches an object until a state is as expected.
async fn becomes(api: &Api<DynamicObject>, name: &str, expected: impl Fn(&DynamicObject) -> bool) {
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = api.watch(&params, "0").await.expect("it can be watched").boxed();
    while let Some(event) = events.try_next().await.expect("the watch continues") {
        if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event
            && expected(&object)
        {
            return;
        }
    }
    panic!("the watch ended before {name} was as expected");
}

fn conditions(namespace: &DynamicObject) -> Vec<(String, String, String, String)> {
    let list = namespace.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list.iter()
        .map(|c| (text(&c["type"]), text(&c["status"]), text(&c["reason"]), text(&c["message"])))
        .collect()
}

#[operetta_harness::test(paused)]
async fn a_claim_that_no_pod_on_a_node_uses_is_let_go() {
    let (_server, client) = server();
    let claims = api(&client, "v1", "PersistentVolumeClaim", "default");
    create(&claims, claim("a", "default")).await;
    create(&api(&client, "v1", "Pod", "default"), pod("waiting", "a", "")).await;
    claims.delete("a", &DeleteParams::default()).await.unwrap();
    gone(&claims, "a").await;
}

#[operetta_harness::test(paused)]
async fn a_claim_that_a_pod_uses_is_held_until_the_pod_is_gone() {
    let (_server, client) = server();
    let claims = api(&client, "v1", "PersistentVolumeClaim", "default");
    let pods = api(&client, "v1", "Pod", "default");
    create(&claims, claim("a", "default")).await;
    create(&claims, claim("marker", "default")).await;
    create(&pods, pod("user", "a", "node")).await;
    for name in ["a", "marker"] {
        claims.delete(name, &DeleteParams::default()).await.unwrap();
    }
    gone(&claims, "marker").await;
    let held = claims.get("a").await.unwrap();
    assert_eq!(held.metadata.finalizers, Some(vec!["kubernetes.io/pvc-protection".to_owned()]));
    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    pods.delete("user", &now).await.unwrap();
    gone(&claims, "a").await;
}

#[operetta_harness::test(paused)]
async fn a_volume_is_held_while_it_is_bound() {
    let (_server, client) = server();
    let volumes = api(&client, "v1", "PersistentVolume", "");
    for name in ["bound", "free"] {
        create(&volumes, volume(name)).await;
    }
    let phase = |phase: &str| Patch::Merge(json!({"status": {"phase": phase}}));
    let params = PatchParams::default();
    volumes.patch_status("bound", &params, &phase("Bound")).await.unwrap();
    for name in ["bound", "free"] {
        volumes.delete(name, &DeleteParams::default()).await.unwrap();
    }
    gone(&volumes, "free").await;
    assert!(volumes.get("bound").await.unwrap().metadata.deletion_timestamp.is_some());
    volumes.patch_status("bound", &params, &phase("Released")).await.unwrap();
    gone(&volumes, "bound").await;
}

#[operetta_harness::test(paused)]
async fn a_namespace_with_a_claim_ends() {
    let (_server, client) = server();
    let namespaces = api(&client, "v1", "Namespace", "");
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
    )
    .await;
    create(&api(&client, "v1", "PersistentVolumeClaim", "n"), claim("a", "n")).await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    gone(&namespaces, "n").await;
}

#[operetta_harness::test(paused)]
async fn a_namespace_says_what_holds_it() {
    let (_server, client) = server();
    let namespaces = api(&client, "v1", "Namespace", "");
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
    )
    .await;
    let config_maps = api(&client, "v1", "ConfigMap", "n");
    create(
        &config_maps,
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "held", "finalizers": ["example.com/hold"]},
        }),
    )
    .await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    let told = |ty: &str, status: &str, reason: &str, message: &str| {
        (ty.to_owned(), status.to_owned(), reason.to_owned(), message.to_owned())
    };
    let expected = vec![
        told(
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        told(
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        told(
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        told(
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        told(
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: \
             example.com/hold in 1 resource instances",
        ),
    ];
    becomes(&namespaces, "n", |namespace| conditions(namespace) == expected).await;
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    config_maps.patch("held", &PatchParams::default(), &release).await.unwrap();
    gone(&namespaces, "n").await;
}
