//! The children of a deleted parent are deleted and not created again.

use k8s_openapi::api::batch::v1::Job;
use kube::api::{DeleteParams, PropagationPolicy};
use operetta::{operator::Propagation, prelude::*};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, JOB, POD, SERVICE, World},
};

#[operetta_harness::test(server)]
async fn deleting_the_parent_deletes_the_children() {
    let world = World::new().await;
    let operators = world.start_all().await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "hello"}})).await;
    world.until_synced(ECHO, "a").await;
    world.delete(ECHO, "a").await;
    for kind in [ECHO, POD, SERVICE] {
        world.until(kind, "a", "nothing of that name", Value::is_null).await;
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn deleting_the_parent_in_the_foreground_recreates_no_child() {
    let world = World::that_logs_requests().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    // A finalizer of the child keeps the parent terminating until the test removes it.
    let mut held = config_map("held", json!({}));
    held["metadata"]["finalizers"] = json!(["test.operetta.dev/hold"]);
    world.apply(RECIPE, recipe("r", &[held, config_map("free", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let before = world.our_requests().await.len();
    let foreground =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..<_>::default() };
    world.api(RECIPE).delete("r", &foreground).await.unwrap();
    world.until(CONFIG_MAP, "free", "the free child gone", Value::is_null).await;
    let is_deleting = |child: &Value| child["metadata"]["deletionTimestamp"].is_string();
    world.until(CONFIG_MAP, "held", "the held child in deletion", is_deleting).await;
    assert!(world.get(RECIPE, "r").await.is_object(), "the parent waits for the held child");
    world.patch(CONFIG_MAP, "held", json!({"metadata": {"finalizers": null}})).await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert!(world.get(CONFIG_MAP, "free").await.is_null());
    assert!(world.get(CONFIG_MAP, "held").await.is_null());
    operators.settled().await;
    let mut written = world.our_requests().await.split_off(before);
    written.retain(Request::is_write);
    assert_eq!(written, [], "a terminating parent is not synced");
    operators.stop().await;
}

/// Suspended, so that only the test creates Pods for it.
fn job() -> Value {
    let containers = json!([{"name": "c", "image": "registry.example/soup:1"}]);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": containers}});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"suspend": true, "template": template}})
}

fn pod_of(job: &Value) -> Value {
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j",
        "uid": job["metadata"]["uid"]});
    let containers = json!([{"name": "c", "image": "registry.example/soup:1"}]);
    json!({"metadata": {"name": "p", "ownerReferences": [owner]},
        "spec": {"containers": containers}})
}

/// The default propagation policy of Jobs orphans their Pods.
#[operetta_harness::test(server)]
async fn the_pods_of_a_job_are_deleted_with_it_unless_they_are_orphaned() {
    for propagation in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        let world = World::new().await;
        let how = ChildConfig::apply().with_propagation(propagation);
        let config = recipe::config("cook").child::<Job>(how);
        let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
        world.apply(RECIPE, recipe("r", &[job()])).await;
        world.until_synced(RECIPE, "r").await;
        world.create(POD, pod_of(&world.get(JOB, "j").await)).await;
        world.apply(RECIPE, recipe("r", &[])).await;
        world.until(JOB, "j", "the Job gone", Value::is_null).await;
        if propagation == Propagation::Orphan {
            let is_free = |pod: &Value| pod["metadata"]["ownerReferences"].is_null();
            world.until(POD, "p", "a Pod without an owner", is_free).await;
        } else {
            world.until(POD, "p", "the Pod gone", Value::is_null).await;
        }
        operators.stop().await;
    }
}
