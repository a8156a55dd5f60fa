//! Stateful sets, their claims and volumes.

use serde_json::{Value, json};

use super::world::{World, template, workload};

fn set(spec: Value) -> Value {
    let mut set = workload("apps/v1", "StatefulSet", "db", spec);
    set["spec"]["serviceName"] = json!("db");
    set
}

fn claim_template() -> Value {
    json!([{
        "metadata": { "name": "data" },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    }])
}

fn is_rolled_out(set: &Value) -> bool {
    let (status, wanted) = (&set["status"], &set["spec"]["replicas"]);
    status["observedGeneration"] == set["metadata"]["generation"]
        && status["readyReplicas"] == *wanted
        && status["updatedReplicas"] == *wanted
        && status["currentRevision"] == status["updateRevision"]
}

#[operetta_harness::test]
async fn pods_are_created_in_order_with_bound_claims() {
    let world = World::immediate();
    world.create(set(json!({ "replicas": 3, "volumeClaimTemplates": claim_template() }))).await;
    let db = world.until("StatefulSet", "db", is_rolled_out).await;
    assert_eq!(db["status"]["availableReplicas"], 3);
    assert_eq!(db["status"]["currentReplicas"], 3);
    assert_eq!(world.names("Pod").await, ["db-0", "db-1", "db-2"]);
    let pods = world.list("Pod").await;
    // Each was assigned after the one before it was ready, so that its containers started no earlier.
    for pod in &pods {
        assert_eq!(pod["spec"]["hostname"], pod["metadata"]["name"]);
        assert_eq!(pod["spec"]["volumes"][0]["name"], "data");
    }
    for claim in world.list("PersistentVolumeClaim").await {
        assert_eq!(claim["status"]["phase"], "Bound");
        assert_eq!(claim["status"]["capacity"]["storage"], "1Gi");
        assert_eq!(claim["spec"]["storageClassName"], "simulated");
        let volume =
            world.get("PersistentVolume", claim["spec"]["volumeName"].as_str().unwrap()).await;
        assert_eq!(volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"]);
    }
}

#[operetta_harness::test]
async fn an_ephemeral_volume_gets_a_claim_that_goes_with_its_pod() {
    let world = World::immediate();
    let mut template = template("db");
    let claim = json!({ "spec": claim_template()[0]["spec"] });
    template["spec"]["volumes"] =
        json!([{ "name": "own", "ephemeral": { "volumeClaimTemplate": claim } }]);
    world.create(set(json!({ "replicas": 1, "template": template }))).await;
    world.until("StatefulSet", "db", is_rolled_out).await;
    let claim = world.get("PersistentVolumeClaim", "db-0-own").await;
    let pod = world.get("Pod", "db-0").await;
    assert_eq!(claim["metadata"]["ownerReferences"][0]["uid"], pod["metadata"]["uid"]);
    assert_eq!(claim["status"]["phase"], "Bound");
}

#[operetta_harness::test]
async fn a_pod_that_is_not_ready_holds_those_after_it() {
    let world = World::immediate();
    let mut never_ready = template("db");
    never_ready["metadata"]["annotations"] =
        json!({ "simulation.operetta.dev/never-ready": "true" });
    world.create(set(json!({ "replicas": 2, "template": never_ready }))).await;
    world.until("Pod", "db-0", |pod| pod["status"]["phase"] == "Running").await;
    world.until("StatefulSet", "db", |db| db["status"]["replicas"] == 1).await;
    assert_eq!(world.names("Pod").await, ["db-0"]);
}

#[operetta_harness::test]
async fn a_new_template_reaches_the_ordinals_from_the_partition_on() {
    let world = World::immediate();
    let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
    world.create(set(json!({ "replicas": 3, "updateStrategy": strategy }))).await;
    world.until("StatefulSet", "db", is_rolled_out).await;
    let image = json!([{ "name": "main", "image": "image:2" }]);
    let change = json!({ "spec": { "template": { "spec": { "containers": image } } } });
    world.patch("StatefulSet", "db", change).await;
    let partly = |db: &Value| {
        db["status"]["updatedReplicas"] == 1
            && db["status"]["readyReplicas"] == 3
            && db["status"]["currentRevision"] != db["status"]["updateRevision"]
    };
    world.until("StatefulSet", "db", partly).await;
    let images = |pods: Vec<Value>| -> Vec<Value> {
        pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].clone()).collect()
    };
    assert_eq!(images(world.list("Pod").await), ["image:1", "image:1", "image:2"]);
    let all = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 0 } } } });
    world.patch("StatefulSet", "db", all).await;
    world.until("StatefulSet", "db", is_rolled_out).await;
    assert_eq!(images(world.list("Pod").await), ["image:2", "image:2", "image:2"]);
    assert_eq!(world.list("ControllerRevision").await.len(), 2);
}

#[operetta_harness::test]
async fn a_set_that_is_scaled_down_keeps_its_claims() {
    let world = World::immediate();
    world.create(set(json!({ "replicas": 2, "volumeClaimTemplates": claim_template() }))).await;
    world.until("StatefulSet", "db", is_rolled_out).await;
    world.patch("StatefulSet", "db", json!({ "spec": { "replicas": 1 } })).await;
    world.gone("Pod", "db-1").await;
    world.until("StatefulSet", "db", is_rolled_out).await;
    assert_eq!(world.names("PersistentVolumeClaim").await, ["data-db-0", "data-db-1"]);
}

#[operetta_harness::test]
async fn a_set_that_is_made_again_adopts_its_pods() {
    let world = World::immediate();
    world.create(set(json!({ "replicas": 1 }))).await;
    let before = world.until("StatefulSet", "db", is_rolled_out).await;
    let pod = world.get("Pod", "db-0").await;
    let orphan = kube::api::DeleteParams {
        propagation_policy: Some(kube::api::PropagationPolicy::Orphan),
        ..kube::api::DeleteParams::default()
    };
    world.api("StatefulSet").delete("db", &orphan).await.unwrap();
    world.gone("StatefulSet", "db").await;
    let after = world.create(set(json!({ "replicas": 1 }))).await;
    assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
    world.until("StatefulSet", "db", is_rolled_out).await;
    let adopted = world.get("Pod", "db-0").await;
    assert_eq!(adopted["metadata"]["uid"], pod["metadata"]["uid"]);
    assert_eq!(adopted["metadata"]["ownerReferences"][0]["uid"], after["metadata"]["uid"]);
}

#[operetta_harness::test]
async fn the_volume_of_a_deleted_claim_is_deleted() {
    let world = World::immediate();
    world
        .create(json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": { "name": "a", "namespace": "default" },
            "spec": claim_template()[0]["spec"],
        }))
        .await;
    let claim = world
        .until("PersistentVolumeClaim", "a", |claim| claim["status"]["phase"] == "Bound")
        .await;
    world.delete("PersistentVolumeClaim", "a").await;
    world.gone("PersistentVolume", claim["spec"]["volumeName"].as_str().unwrap()).await;
}
