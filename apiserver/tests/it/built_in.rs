//! Special cases of single built-in types.

use kube::api::DeleteParams;
use serde_json::json;

use crate::common::{api, apply, create, refusal, server};

#[operetta_harness::test]
async fn an_event_is_one_object_under_two_names() {
    let (_server, client) = server();
    let new = api(&client, "events.k8s.io/v1", "Event", "default");
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c",
        "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal", "note": "hello",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    });
    create(&new, event).await;
    let old = api(&client, "v1", "Event", "default").get("e").await.unwrap();
    assert_eq!(old.data["message"], "hello");
    assert_eq!(old.data["involvedObject"]["name"], "p");
    assert_eq!(new.get("e").await.unwrap().data["note"], "hello");
}

#[operetta_harness::test]
async fn addresses_of_services_are_allocated_and_released() {
    let (_server, client) = server();
    let services = api(&client, "v1", "Service", "default");
    let service = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        })
    };
    let one = create(&services, service("one")).await;
    let two = create(&services, service("two")).await;
    assert_ne!(one.data["spec"]["clusterIP"], two.data["spec"]["clusterIP"]);
    assert!(one.data["spec"]["ports"][0]["nodePort"].as_i64().is_some());
    let again = apply(&services, "one", "op", &service("one")).await.unwrap();
    assert_eq!(one.data["spec"]["clusterIP"], again.data["spec"]["clusterIP"]);
    services.delete("one", &DeleteParams::default()).await.unwrap();
    let mut heir = service("three");
    heir["spec"]["clusterIP"] = one.data["spec"]["clusterIP"].clone();
    create(&services, heir).await;
}

#[operetta_harness::test]
async fn the_generation_of_a_deployment_follows_its_specification() {
    let (_server, client) = server();
    let deployments = api(&client, "apps/v1", "Deployment", "default");
    let deployment = |replicas: i64| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
                },
            },
        })
    };
    let first = apply(&deployments, "d", "op", &deployment(1)).await.unwrap();
    let same = apply(&deployments, "d", "op", &deployment(1)).await.unwrap();
    let more = apply(&deployments, "d", "op", &deployment(2)).await.unwrap();
    assert_eq!(first.metadata.resource_version, same.metadata.resource_version);
    assert_eq!((first.metadata.generation, more.metadata.generation), (Some(1), Some(2)));
}

#[operetta_harness::test]
async fn an_address_of_another_service_is_refused() {
    let (_server, client) = server();
    let services = api(&client, "v1", "Service", "default");
    let service = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"clusterIP": "10.0.0.77", "ports": [{"port": 80}]},
        })
    };
    create(&services, service("one")).await;
    for _ in 0..2 {
        let (code, _, message) = refusal(apply(&services, "two", "op", &service("two")).await);
        assert_eq!(code, 422);
        assert!(message.contains("already allocated"), "{message}");
    }
}

#[operetta_harness::test]
async fn a_scale_changes_the_replicas_and_nothing_else() {
    let (_server, client) = server();
    let deployments = api(&client, "apps/v1", "Deployment", "default");
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    });
    create(&deployments, deployment).await;
    let scale = deployments.get_scale("d").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(1));
    let patch = kube::api::Patch::Merge(json!({"spec": {"replicas": 3}}));
    let params = kube::api::PatchParams::default();
    let scale = deployments.patch_scale("d", &params, &patch).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(3));
    let after = deployments.get("d").await.unwrap();
    assert_eq!((&after.data["spec"]["replicas"], after.metadata.generation), (&json!(3), Some(2)));
}
