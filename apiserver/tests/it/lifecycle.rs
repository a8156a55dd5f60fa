//! The server's own controllers: garbage collection and namespaces.

use kube::api::{DeleteParams, PostParams, PropagationPolicy};
use serde_json::{Value, json};

use crate::common::{api, config_map, config_maps, create, gone, object, refusal, server};

fn owned(name: &str, owner: &kube::api::DynamicObject) -> Value {
    let mut child = config_map(name, "1");
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": owner.metadata.name,
        "uid": owner.metadata.uid, "controller": true, "blockOwnerDeletion": true,
    }]);
    child
}

#[operetta_harness::test(paused)]
async fn dependents_are_deleted_with_their_last_owner() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let owner = create(&api, config_map("owner", "1")).await;
    create(&api, owned("child", &owner)).await;
    api.delete("owner", &DeleteParams::default()).await.unwrap();
    gone(&api, "child").await;
}

#[operetta_harness::test(paused)]
async fn an_object_whose_owner_never_existed_is_garbage_collected() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut owner = create(&api, config_map("owner", "1")).await;
    owner.metadata.uid = Some("11111111-2222-3333-4444-555555555555".to_owned());
    create(&api, owned("child", &owner)).await;
    gone(&api, "child").await;
    api.get("owner").await.unwrap();
}

#[operetta_harness::test(paused)]
async fn an_owner_in_another_namespace_is_reported_and_counts_as_absent() {
    let (_server, client) = server();
    let namespaces = api(&client, "v1", "Namespace", "");
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}),
    )
    .await;
    let owner = create(&config_maps(&client), config_map("owner", "1")).await;
    let elsewhere = api(&client, "v1", "ConfigMap", "a");
    let mut child = owned("child", &owner);
    child["metadata"]["namespace"] = json!("a");
    let child = create(&elsewhere, child).await;
    gone(&elsewhere, "child").await;
    let reported = reported(&client, "a").await;
    let uid = owner.metadata.uid.unwrap();
    assert_eq!(
        reported["message"],
        format!(
            "ownerRef [v1/ConfigMap, namespace: a, name: owner, uid: {uid}] does not exist in namespace \"a\""
        )
    );
    assert_eq!(reported["type"], "Warning");
    assert_eq!(reported["source"]["component"], "garbage-collector-controller");
    assert_eq!(reported["involvedObject"]["name"], "child");
    assert_eq!(reported["involvedObject"]["uid"], child.metadata.uid.unwrap());
}

#[operetta_harness::test(paused)]
async fn an_object_without_a_namespace_is_kept_although_its_owner_has_one() {
    let (_server, client) = server();
    let owner = create(&config_maps(&client), config_map("owner", "1")).await;
    let roles = api(&client, "rbac.authorization.k8s.io/v1", "ClusterRole", "");
    let mut role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
    });
    role["metadata"]["ownerReferences"] = owned("r", &owner)["metadata"]["ownerReferences"].take();
    create(&roles, role).await;
    let reported = reported(&client, "default").await;
    let message = reported["message"].as_str().unwrap();
    assert!(message.ends_with("does not exist in namespace \"\""), "{message}");
    assert_eq!(reported["involvedObject"]["namespace"], Value::Null);
    roles.get("r").await.unwrap();
}

/// The Event about an owner that is elsewhere.
async fn reported(client: &kube::Client, namespace: &str) -> Value {
    let events = api(client, "v1", "Event", namespace);
    loop {
        let all = events.list(&kube::api::ListParams::default()).await.unwrap().items;
        let mut found = all.into_iter().map(|event| event.data);
        if let Some(event) = found.find(|event| event["reason"] == "OwnerRefInvalidNamespace") {
            return event;
        }
        tokio::task::yield_now().await;
    }
}

#[operetta_harness::test(paused)]
async fn a_foreground_deletion_waits_for_the_dependents() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let owner = create(&api, config_map("owner", "1")).await;
    let mut child = owned("child", &owner);
    child["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&api, child).await;
    let foreground = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Foreground),
        ..DeleteParams::default()
    };
    api.delete("owner", &foreground).await.unwrap();
    let child = loop {
        let child = api.get("child").await.unwrap();
        if child.metadata.deletion_timestamp.is_some() {
            break child;
        }
        tokio::task::yield_now().await;
    };
    let held = api.get("owner").await.unwrap();
    assert_eq!(held.metadata.finalizers, Some(vec!["foregroundDeletion".to_owned()]));
    let mut released = child;
    released.metadata.finalizers = None;
    api.replace("child", &PostParams::default(), &released).await.unwrap();
    gone(&api, "owner").await;
}

#[operetta_harness::test(paused)]
async fn an_orphaning_deletion_leaves_the_dependents_without_their_owner() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let owner = create(&api, config_map("owner", "1")).await;
    create(&api, owned("child", &owner)).await;
    let orphan = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    api.delete("owner", &orphan).await.unwrap();
    gone(&api, "owner").await;
    assert_eq!(api.get("child").await.unwrap().metadata.owner_references, None);
}

#[operetta_harness::test(paused)]
async fn a_namespace_is_deleted_with_its_contents() {
    let (_server, client) = server();
    let namespaces = api(&client, "v1", "Namespace", "");
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}),
    )
    .await;
    let inside = api(&client, "v1", "ConfigMap", "a");
    let mut held = config_map("held", "1");
    held["metadata"] = json!({"name": "held", "finalizers": ["example.com/hold"]});
    create(&inside, held).await;
    let deleted = namespaces.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(deleted.data["status"]["phase"], "Terminating");
    let new = object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}));
    let (code, _, message) = refusal(inside.create(&PostParams::default(), &new).await);
    assert_eq!(code, 403);
    assert!(message.contains("because it is being terminated"), "{message}");
    let release = kube::api::Patch::Merge(json!({"metadata": {"finalizers": null}}));
    inside.patch("held", &kube::api::PatchParams::default(), &release).await.unwrap();
    gone(&namespaces, "a").await;
}

#[operetta_harness::test]
async fn nothing_is_created_in_a_missing_namespace() {
    let (_server, client) = server();
    let api = api(&client, "v1", "ConfigMap", "nowhere");
    let new = object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}));
    let (code, _, message) = refusal(api.create(&PostParams::default(), &new).await);
    assert_eq!((code, message.as_str()), (404, "namespaces \"nowhere\" not found"));
}
