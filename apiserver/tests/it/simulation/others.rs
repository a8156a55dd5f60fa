//! Daemon sets, Services and autoscalers.

use serde_json::{Value, json};

use super::world::{World, condition, is_true, workload};

#[operetta_harness::test]
async fn a_daemon_set_runs_one_pod_on_the_node() {
    let world = World::immediate();
    world.create(workload("apps/v1", "DaemonSet", "agent", json!({}))).await;
    let is_ready = |set: &Value| set["status"]["numberAvailable"] == 1;
    let set = world.until("DaemonSet", "agent", is_ready).await;
    assert_eq!(set["status"]["desiredNumberScheduled"], 1);
    assert_eq!(set["status"]["updatedNumberScheduled"], 1);
    let image = json!([{ "name": "main", "image": "image:2" }]);
    let change = json!({ "spec": { "template": { "spec": { "containers": image } } } });
    let changed = world.patch("DaemonSet", "agent", change).await;
    let is_updated = |set: &Value| {
        set["status"]["observedGeneration"] == changed["metadata"]["generation"]
            && set["status"]["updatedNumberScheduled"] == 1
            && is_ready(set)
    };
    world.until("DaemonSet", "agent", is_updated).await;
    let pods = world.list("Pod").await;
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0]["spec"]["containers"][0]["image"], "image:2");
}

#[operetta_harness::test]
async fn a_service_has_the_addresses_of_the_pods_that_it_selects() {
    let world = World::immediate();
    world
        .create(json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": { "name": "web", "namespace": "default" },
            "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80, "targetPort": 8080 }] },
        }))
        .await;
    world.create(workload("apps/v1", "Deployment", "web", json!({ "replicas": 2 }))).await;
    let has_both = |slice: &Value| {
        let endpoints = slice["endpoints"].as_array();
        endpoints.is_some_and(|all| {
            all.len() == 2 && all.iter().all(|it| it["conditions"]["ready"] == true)
        })
    };
    let slice = world.any("EndpointSlice", has_both).await;
    assert_eq!(slice["metadata"]["labels"]["kubernetes.io/service-name"], "web");
    assert_eq!(slice["ports"][0]["port"], 8080);
    let is_same = |endpoints: &Value| {
        endpoints["subsets"][0]["addresses"].as_array().is_some_and(|it| it.len() == 2)
    };
    world.until("Endpoints", "web", is_same).await;
    world.patch("Deployment", "web", json!({ "spec": { "replicas": 0 } })).await;
    world
        .any("EndpointSlice", |slice| {
            slice["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
                && slice["endpoints"].as_array().is_none_or(Vec::is_empty)
        })
        .await;
    world.delete("Service", "web").await;
    world.gone("Endpoints", "web").await;
}

#[operetta_harness::test]
async fn an_autoscaler_says_that_it_does_nothing() {
    let world = World::immediate();
    world
        .create(json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": { "name": "web", "namespace": "default" },
            "spec": {
                "maxReplicas": 3,
                "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" },
            },
        }))
        .await;
    let says_so = |it: &Value| condition(it, "ScalingActive")["reason"] == "Simulated";
    let autoscaler = world.until("HorizontalPodAutoscaler", "web", says_so).await;
    assert!(!is_true(&autoscaler, "AbleToScale"));
}
