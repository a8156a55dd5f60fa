//! The children of a deleted parent are deleted and not created again.

use k8s_openapi::api::batch::v1::Job;
use kube::api::{DeleteParams, Patch, PropagationPolicy};
use operetta::{operator::Propagation, prelude::*};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{
        CONFIG_MAP, ECHO, JOB, NAMESPACE, POD, SERVICE, TEMP, World, condition, eventually,
        is_ready,
    },
};

#[operetta_harness::test]
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

#[operetta_harness::test]
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
#[operetta_harness::test]
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

#[operetta_harness::test]
async fn a_temp_namespace_deletes_its_namespace_after_the_configured_time() {
    let world = World::new().await;
    let operators = world.start_all().await;
    let name = format!("{}-temp", world.namespace);
    let temp = |after: &str| json!({"metadata": {"name": name}, "spec": {"deleteAfter": after}});
    world.apply(TEMP, temp("1h")).await;
    world.until(NAMESPACE, &name, "the namespace", Value::is_object).await;
    // Only now, so that a slow test sees the namespace too.
    world.apply(TEMP, temp("2s")).await;
    world.until(NAMESPACE, &name, "the namespace gone", Value::is_null).await;
    let is_over = |parent: &Value| parent["status"]["deletedAt"].is_string();
    world.until(TEMP, &name, "deletedAt", is_over).await;
    operators.settled().await;
    assert!(world.get(NAMESPACE, &name).await.is_null(), "it is not created again");
    operators.stop().await;
}

/// As after an upgrade of a CRD that did not validate the time.
#[operetta_harness::test]
async fn a_temp_namespace_with_an_invalid_time_keeps_its_namespace_and_reports_it() {
    let world = World::new().await;
    let operators = world.start_all().await;
    let name = format!("{}-temp", world.namespace);
    let temp = |after: &str| json!({"metadata": {"name": name}, "spec": {"deleteAfter": after}});
    world.apply(TEMP, temp("1h")).await;
    world.until(TEMP, &name, "the parent ready", is_ready).await;
    let namespace = world.get(NAMESPACE, &name).await;
    world.install_temp_namespaces_without_pattern().await;
    let patch = || async {
        let (params, soon) =
            (<_>::default(), Patch::Merge(json!({"spec": {"deleteAfter": "soon"}})));
        world.api(TEMP).patch(&name, &params, &soon).await.is_ok()
    };
    eventually("the pattern gone", patch, |is_taken| *is_taken).await;
    let why = "`soon` is not an integer followed by s, m, h or d";
    let is_stalled = |parent: &Value| {
        let stalled = condition(parent, "Stalled");
        stalled["status"] == "True" && stalled["message"].as_str().unwrap().contains(why)
    };
    let stalled = world.until(TEMP, &name, "the parent stalled", is_stalled).await;
    assert_eq!(condition(&stalled, "Ready")["reason"], "HandlerFailed");
    assert!(stalled["status"]["error"].as_str().unwrap().contains(why), "{stalled}");
    assert_eq!(stalled["status"]["phase"], "Active");
    assert_eq!(world.get(NAMESPACE, &name).await, namespace, "it is not modified");
    world.apply(TEMP, temp("2h")).await;
    let parent = world.until(TEMP, &name, "the parent ready again", is_ready).await;
    assert!(parent["status"]["error"].is_null(), "{parent}");
    let uid = &namespace["metadata"]["uid"];
    assert_eq!(world.get(NAMESPACE, &name).await["metadata"]["uid"], *uid);
    operators.stop().await;
}

/// The refused child may replace the undesired one. The deletion also waits for a permanent refusal, until
/// the user fixes it.
#[operetta_harness::test]
async fn an_undesired_child_is_not_deleted_while_a_write_of_another_is_refused() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    world.create(CONFIG_MAP, config_map("theirs", json!({"owner": "somebody"}))).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let old = config_map("old", json!({}));
    for (sibling, reason) in [("Not_A_Name", "WriteFailed"), ("theirs", "Conflict")] {
        world.apply(RECIPE, recipe("r", std::slice::from_ref(&old))).await;
        world.until_ready(RECIPE, "r").await;
        let before = world.get(CONFIG_MAP, "old").await;
        let failure = ExpectedFailure::before(&world, &operators, "cook", reason).await;
        world.apply(RECIPE, recipe("r", &[config_map(sibling, json!({}))])).await;
        failure.until_reported("r", sibling).await;
        assert_eq!(world.get(CONFIG_MAP, "old").await, before, "it stays beside {sibling}");
        let (_, page) = operators.http(&path).await;
        let waits = "its deletion waits until every write is accepted";
        assert!(page.contains(waits), "{page}");
        world.apply(RECIPE, recipe("r", &[config_map("good", json!({}))])).await;
        world.until(CONFIG_MAP, "old", "the child gone", Value::is_null).await;
        world.until_ready(RECIPE, "r").await;
    }
    operators.stop().await;
}
