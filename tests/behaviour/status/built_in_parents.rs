//! Parents of built-in types, whose status other controllers write.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Patch, PatchParams};
use operetta::{
    object::ObjectKey, operator::Condition, prelude::*, testkit::internals::board::ParentPhase,
};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::config_map,
    world::{CONFIG_MAP, EVENT, Operators, POD, World, condition, eventually},
};

const STATUS: &str = "test.operetta.dev/status";

/// Returns a child and the status in an annotation; fails if that is not JSON.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let annotations = request.parent.annotations();
    let status = annotations.get(STATUS).map(|text| serde_json::from_str(text)).transpose()?;
    let mut response = SyncResponse::new().child(config_map(request.parent.name(), json!({})));
    response.status = status;
    Ok(response)
}

async fn start(world: &World) -> Operators {
    let config = OperatorConfig::of::<Pod>("minder")
        .child::<ConfigMap>(ChildConfig::apply())
        .within_namespace(&world.namespace)
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1));
    world.start(|builder| builder.register(config, sync)).await
}

/// A Pod with a status of the kubelet.
async fn running_pod(world: &World, name: &str) -> Value {
    let container = json!({"name": "c", "image": "example.com/none"});
    let pod = json!({"metadata": {"name": name}, "spec": {"containers": [container]}});
    world.create(POD, pod).await;
    let condition = |ty: &str, status: &str| json!({"type": ty, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let conditions = json!([condition("Ready", "True"), condition("Stalled", "True")]);
    let status = json!({"phase": "Running", "reason": "Fine", "conditions": conditions});
    let params = PatchParams { field_manager: Some("kubelet".to_owned()), ..<_>::default() };
    let patch = Patch::Merge(json!({"status": status}));
    let pod = world.api(POD).patch_status(name, &params, &patch).await.unwrap();
    serde_json::to_value(pod).unwrap()
}

/// Changes the status that the handler returns.
async fn set_status(world: &World, name: &str, status: &str) {
    let annotations = json!({STATUS: status});
    world.patch(POD, name, json!({"metadata": {"annotations": annotations}})).await;
}

/// Triggers another reconcile and waits until everything is up to date.
async fn reconcile_again(world: &World, operators: &Operators, name: &str) {
    operators.settled().await;
    let reconciles = operators.reconciles("minder", &world.namespace, name);
    world
        .patch(POD, name, json!({"metadata": {"labels": {"seen": format!("{reconciles}")}}}))
        .await;
    operators.settled().await;
    assert!(operators.reconciles("minder", &world.namespace, name) > reconciles);
    operators.until_synced("minder", &world.namespace, name).await;
}

async fn status_writes(world: &World) -> usize {
    let requests = world.our_requests().await.into_iter().filter(Request::is_write);
    let is_here = |it: &Request| it.namespace() == Some(world.namespace.as_str());
    requests.filter(|it| it.resource == "pods" && is_here(it)).count()
}

#[operetta_harness::test(server)]
async fn a_handler_without_a_status_does_not_modify_that_of_a_built_in_parent() {
    let world = World::that_logs_requests().await;
    let before = running_pod(&world, "p").await;
    let operators = start(&world).await;
    world.until(CONFIG_MAP, "p", "the child", Value::is_object).await;
    operators.until_synced("minder", &world.namespace, "p").await;
    reconcile_again(&world, &operators, "p").await;
    assert_eq!(world.get(POD, "p").await["status"], before["status"]);

    set_status(&world, "p", "no JSON").await;
    let of_failure = |event: &&Value| event["reason"] == "HandlerFailed";
    let is_reported = |events: &Vec<Value>| events.iter().any(|event| of_failure(&event));
    eventually("an Event", || world.list(EVENT), is_reported).await;
    let (board, key) = (operators.running().board(), ObjectKey::namespaced(&world.namespace, "p"));
    let phase = || async { board.parent("minder", &key).map(|parent| parent.phase) };
    eventually("it fails", phase, |phase| *phase == Some(ParentPhase::Failing)).await;
    operators.settled().await;
    assert_eq!(world.get(POD, "p").await["status"], before["status"]);
    assert_eq!(status_writes(&world).await, 0);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn the_status_of_a_built_in_parent_is_merged_with_that_of_the_handler() {
    let world = World::that_logs_requests().await;
    let mut expected = running_pod(&world, "p").await["status"].clone();
    let operators = start(&world).await;
    // The server keeps neither an empty reason nor an empty message.
    let fed = Condition::new("example.com/Fed", true, "", "");
    set_status(&world, "p", &json!({"message": "fed", "conditions": [fed]}).to_string()).await;
    let is_reported = |pod: &Value| pod["status"]["message"] == "fed";
    let pod = world.until(POD, "p", "the status of the handler", is_reported).await;
    let is_fed = condition(&pod, "example.com/Fed");
    assert_eq!(is_fed["status"], "True");
    assert!(is_fed["lastTransitionTime"].is_string());
    expected["message"] = json!("fed");
    expected["conditions"].as_array_mut().unwrap().push(is_fed);
    assert_eq!(pod["status"], expected);
    operators.settled().await;
    let writes = status_writes(&world).await;
    reconcile_again(&world, &operators, "p").await;
    assert_eq!(status_writes(&world).await, writes, "there is nothing to write");

    set_status(&world, "p", r#"{"reason": "Odd"}"#).await;
    let is_reported = |pod: &Value| pod["status"]["reason"] == "Odd";
    let pod = world.until(POD, "p", "the new status of the handler", is_reported).await;
    expected["reason"] = json!("Odd");
    assert_eq!(pod["status"], expected, "fields that it no longer returns stay");
    operators.stop().await;
}
