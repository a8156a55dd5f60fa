//! Deployments, their sets and Pods.

use operetta_apiserver::{Server, WorkloadTiming};
use serde_json::{Value, json};

use super::world::{World, condition, is_true, workload};

fn deployment(spec: Value) -> Value {
    workload("apps/v1", "Deployment", "web", spec)
}

fn is_rolled_out(deployment: &Value) -> bool {
    condition(deployment, "Progressing")["reason"] == "NewReplicaSetAvailable"
        && deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"]
        && deployment["status"]["updatedReplicas"] == deployment["spec"]["replicas"]
        && deployment["status"]["replicas"] == deployment["spec"]["replicas"]
}

#[operetta_harness::test]
async fn a_deployment_becomes_ready() {
    let world = World::immediate();
    world.create(deployment(json!({ "replicas": 3 }))).await;
    let web = world.until("Deployment", "web", is_rolled_out).await;
    assert!(is_true(&web, "Available"));
    let status = &web["status"];
    assert_eq!(status["readyReplicas"], 3, "{status}");
    assert_eq!(status["availableReplicas"], 3);
    assert_eq!(status["unavailableReplicas"], Value::Null);
    assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    let pods = world.list("Pod").await;
    assert_eq!(pods.len(), 3);
    for pod in pods {
        assert_eq!(pod["spec"]["nodeName"], "embedded");
        assert!(is_true(&pod, "Ready"));
        assert!(pod["metadata"]["annotations"].get("simulation.operetta.dev/simulated").is_some());
        assert!(pod["metadata"]["labels"]["pod-template-hash"].is_string());
    }
}

#[operetta_harness::test]
async fn a_new_template_replaces_the_pods_and_the_old_set_stays_without_pods() {
    let world = World::immediate();
    world.create(deployment(json!({ "replicas": 2 }))).await;
    world.until("Deployment", "web", is_rolled_out).await;
    let image = json!([{ "name": "main", "image": "image:2" }]);
    let change = json!({ "spec": { "template": { "spec": { "containers": image } } } });
    world.patch("Deployment", "web", change).await;
    let second = |web: &Value| {
        is_rolled_out(web)
            && web["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    };
    world.until("Deployment", "web", second).await;
    let sets = world.list("ReplicaSet").await;
    let mut sizes: Vec<_> = sets.iter().map(|set| set["spec"]["replicas"].as_i64()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [Some(0), Some(2)]);
    for pod in world.list("Pod").await {
        let is_new = pod["spec"]["containers"][0]["image"] == "image:2";
        assert!(is_new || !pod["metadata"]["deletionTimestamp"].is_null());
    }
}

#[operetta_harness::test]
async fn a_recreated_deployment_ends_its_old_pods_first() {
    let world = World::immediate();
    let strategy = json!({ "type": "Recreate" });
    world.create(deployment(json!({ "replicas": 2, "strategy": strategy }))).await;
    world.until("Deployment", "web", is_rolled_out).await;
    let old = world.names("Pod").await;
    let image = json!([{ "name": "main", "image": "image:2" }]);
    let change = json!({ "spec": { "template": { "spec": { "containers": image } } } });
    world.patch("Deployment", "web", change).await;
    world.any("Pod", |pod| pod["spec"]["containers"][0]["image"] == "image:2").await;
    let now = world.names("Pod").await;
    assert!(old.iter().all(|name| !now.contains(name)), "{old:?} are still among {now:?}");
    world.until("Deployment", "web", is_rolled_out).await;
}

#[operetta_harness::test]
async fn a_deleted_deployment_takes_its_pods_with_it() {
    let world = World::immediate();
    world.create(deployment(json!({ "replicas": 1 }))).await;
    world.until("Deployment", "web", is_rolled_out).await;
    let pods = world.names("Pod").await;
    world.delete("Deployment", "web").await;
    for pod in pods {
        world.gone("Pod", &pod).await;
    }
    assert!(world.names("ReplicaSet").await.is_empty());
}

#[operetta_harness::test]
async fn a_pod_that_loses_its_label_is_released_and_replaced() {
    let world = World::immediate();
    world.create(deployment(json!({ "replicas": 1 }))).await;
    world.until("Deployment", "web", is_rolled_out).await;
    let pod = world.names("Pod").await.remove(0);
    world.patch("Pod", &pod, json!({ "metadata": { "labels": { "app": "other" } } })).await;
    world.until("Pod", &pod, |pod| pod["metadata"]["ownerReferences"].is_null()).await;
    let is_another = |it: &Value| it["metadata"]["name"] != *pod && is_true(it, "Ready");
    world.any("Pod", is_another).await;
    // And is adopted again, so that one is too many.
    let taken = json!({ "metadata": { "labels": { "app": "web" } } });
    let patched = world.patch("Pod", &pod, taken).await;
    world.one_goes_after(&patched, "Pod").await;
}

#[operetta_harness::test]
async fn a_server_with_a_data_directory_continues_after_a_restart() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulation-restart");
    // It may be there from an earlier run.
    let _ = std::fs::remove_dir_all(&folder);
    let builder = || Server::builder().simulate_workloads(WorkloadTiming::immediate());
    let first = builder().start_in(&folder).unwrap();
    let world = World::of(first.clone());
    world.create(deployment(json!({ "replicas": 1 }))).await;
    world.until("Deployment", "web", is_rolled_out).await;
    let pod = world.names("Pod").await;
    first.close().await;
    drop((first, world));
    let world = World::of(builder().start_in(&folder).unwrap());
    world.until("Deployment", "web", is_rolled_out).await;
    assert_eq!(world.names("Pod").await, pod);
    world.patch("Deployment", "web", json!({ "spec": { "replicas": 2 } })).await;
    world.until("Deployment", "web", |web| web["status"]["readyReplicas"] == 2).await;
}
