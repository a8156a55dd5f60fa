//! Pods: the scheduler and the kubelet.

use std::time::Duration;

use operetta_apiserver::WorkloadTiming;
use serde_json::{Value, json};

use super::world::{World, condition, is_true};

fn pod(name: &str, annotations: Value, spec: Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": "default", "annotations": annotations },
        "spec": { "containers": [{ "name": "main", "image": "image:1" }] },
    });
    for (field, value) in spec.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

#[operetta_harness::test]
async fn a_pod_runs_on_the_node() {
    let world = World::immediate();
    world.create(pod("a", json!({}), json!({}))).await;
    let pod = world.until("Pod", "a", |pod| is_true(pod, "Ready")).await;
    assert_eq!(phase(&pod), "Running");
    assert!(pod["status"]["podIP"].is_string());
    let node = world.until("Node", "embedded", |node| is_true(node, "Ready")).await;
    assert!(node["metadata"]["annotations"].get("simulation.operetta.dev/simulated").is_some());
}

#[operetta_harness::test]
async fn a_pod_without_a_restart_policy_of_always_ends() {
    let world = World::immediate();
    world.create(pod("good", json!({}), json!({ "restartPolicy": "Never" }))).await;
    let fails = json!({ "simulation.operetta.dev/exit-code": "3" });
    world.create(pod("bad", fails, json!({ "restartPolicy": "Never" }))).await;
    world.until("Pod", "good", |pod| phase(pod) == "Succeeded").await;
    let bad = world.until("Pod", "bad", |pod| phase(pod) == "Failed").await;
    let state = &bad["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!((&state["exitCode"], &state["reason"]), (&json!(3), &json!("Error")));
}

#[operetta_harness::test]
async fn a_pod_that_crashes_is_restarted_with_a_back_off() {
    let world = World::immediate();
    let crashes = json!({ "simulation.operetta.dev/exit-code": "1" });
    world.create(pod("a", crashes, json!({}))).await;
    let waits = |pod: &Value| {
        let container = &pod["status"]["containerStatuses"][0];
        container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
            && container["restartCount"] == 1
    };
    let pod = world.until("Pod", "a", waits).await;
    assert_eq!(phase(&pod), "Running");
    assert_eq!(condition(&pod, "Ready")["reason"], "ContainersNotReady");
    assert_eq!(pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 1);
}

#[operetta_harness::test]
async fn a_pod_may_never_be_ready_or_never_start() {
    let world = World::immediate();
    world
        .create(pod("a", json!({ "simulation.operetta.dev/never-ready": "true" }), json!({})))
        .await;
    world
        .create(pod("b", json!({ "simulation.operetta.dev/never-starts": "true" }), json!({})))
        .await;
    let a = world.until("Pod", "a", |pod| phase(pod) == "Running").await;
    assert_eq!(condition(&a, "Ready")["status"], "False");
    let waiting = |pod: &Value| {
        pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    };
    assert_eq!(phase(&world.until("Pod", "b", waiting).await), "Pending");
}

#[operetta_harness::test]
async fn a_pod_that_cannot_be_assigned_says_why() {
    let world = World::immediate();
    let spec = json!({ "nodeSelector": { "disk": "fast" } });
    world.create(pod("a", json!({}), spec)).await;
    let is_refused = |pod: &Value| condition(pod, "PodScheduled")["reason"] == "Unschedulable";
    world.until("Pod", "a", is_refused).await;
    world.patch("Node", "embedded", json!({ "metadata": { "labels": { "disk": "fast" } } })).await;
    world.until("Pod", "a", |pod| is_true(pod, "Ready")).await;
}

#[operetta_harness::test(paused)]
async fn a_deleted_pod_goes_when_it_has_stopped() {
    let timing = WorkloadTiming { stop: Duration::from_secs(5), ..WorkloadTiming::immediate() };
    let world = World::paused(timing);
    world.create(pod("a", json!({}), json!({}))).await;
    world.until("Pod", "a", |pod| is_true(pod, "Ready")).await;
    world.delete("Pod", "a").await;
    let pod = world.get("Pod", "a").await;
    assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], 30);
    // The clock moves by itself while nobody has anything to do.
    world.gone("Pod", "a").await;
}

#[operetta_harness::test]
async fn without_simulation_nothing_runs() {
    let (_server, client) = crate::common::server();
    let pods = crate::common::api(&client, "v1", "Pod", "default");
    crate::common::create(&pods, pod("a", json!({}), json!({}))).await;
    let nodes = crate::common::api(&client, "v1", "Node", "");
    assert!(nodes.list(&kube::api::ListParams::default()).await.unwrap().items.is_empty());
    assert!(pods.get("a").await.unwrap().data["spec"]["nodeName"].is_null());
}
