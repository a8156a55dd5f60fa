//! Parents of a type of Kubernetes itself, whose status is that of its own controllers.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Patch, PatchParams};
use operetta::{object::{ObjectKey}, operator::Condition, prelude::*, testkit::{internals::{board::ParentPhase}}};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::config_map,
    world::{CONFIG_MAP, EVENT, Operators, POD, World, condition, eventually},
};

const SAYS: &str = "test.operetta.dev/says";

/// Returns a child, and the status in an annotation; fails where that is no JSON.
fn mind(request: &SyncRequest) -> Result<SyncResponse> {
    let annotations = request.parent.annotations();
    let status = annotations.get(SAYS).map(|says| serde_json::from_str(says)).transpose()?;
    let response = SyncResponse::new().child(config_map(request.parent.name(), json!({})));
    Ok(SyncResponse { status, ..response })
}

async fn start(world: &World) -> Operators {
    let config = OperatorConfig::of::<Pod>("minder")
        .child::<ConfigMap>(ChildConfig::apply())
        .within_namespace(&world.namespace)
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1));
    world.start(|builder| builder.register(config, mind)).await
}

/// A Pod of which a kubelet has told.
async fn running_pod(world: &World, name: &str) -> Value {
    let container = json!({"name": "c", "image": "example.com/none"});
    let pod = json!({"metadata": {"name": name}, "spec": {"containers": [container]}});
    world.create(POD, pod).await;
    let says = |ty: &str, status: &str| json!({"type": ty, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let conditions = json!([says("Ready", "True"), says("Stalled", "True")]);
    let status = json!({"phase": "Running", "reason": "Fine", "conditions": conditions});
    let params = PatchParams { field_manager: Some("kubelet".to_owned()), ..<_>::default() };
    let patch = Patch::Merge(json!({"status": status}));
    let pod = world.api(POD).patch_status(name, &params, &patch).await.unwrap();
    serde_json::to_value(pod).unwrap()
}

/// The handler says something else from now on.
async fn say(world: &World, name: &str, says: &str) {
    let annotations = json!({SAYS: says});
    world.patch(POD, name, json!({"metadata": {"annotations": annotations}})).await;
}

/// Waits until one more run is over, and all is as desired.
async fn reconcile_again(world: &World, operators: &Operators, name: &str) {
    let runs = operators.runs("minder", &world.namespace, name);
    world.patch(POD, name, json!({"metadata": {"labels": {"seen": format!("{runs}")}}})).await;
    operators.until_reconciles("minder", &world.namespace, name, runs + 1).await;
    operators.until_synced("minder", &world.namespace, name).await;
}

fn status_writes(world: &World) -> usize {
    let requests = world.our_requests().into_iter().filter(Request::is_write);
    let is_here = |it: &Request| it.namespace() == Some(world.namespace.as_str());
    requests.filter(|it| it.resource == "pods" && is_here(it)).count()
}

#[operetta_harness::test]
async fn the_status_of_a_built_in_parent_is_left_alone_by_a_handler_without_one() {
    let world = World::that_logs_requests().await;
    let before = running_pod(&world, "p").await;
    let operators = start(&world).await;
    world.until(CONFIG_MAP, "p", "the child", Value::is_object).await;
    operators.until_synced("minder", &world.namespace, "p").await;
    reconcile_again(&world, &operators, "p").await;
    assert_eq!(world.get(POD, "p").await["status"], before["status"]);

    say(&world, "p", "no JSON").await;
    let of_failure = |event: &&Value| event["reason"] == "HandlerFailed";
    let is_told = |events: &Vec<Value>| events.iter().any(|event| of_failure(&event));
    eventually("an Event", || world.list(EVENT), is_told).await;
    let (board, key) = (operators.running().board(), ObjectKey::namespaced(&world.namespace, "p"));
    let phase = || async { board.parent("minder", &key).map(|parent| parent.phase) };
    eventually("it fails", phase, |phase| *phase == Some(ParentPhase::Failing)).await;
    assert_eq!(world.get(POD, "p").await["status"], before["status"]);
    assert_eq!(status_writes(&world), 0);
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_status_of_a_built_in_parent_gets_what_the_handler_returns_and_keeps_all_else() {
    let world = World::that_logs_requests().await;
    let mut expected = running_pod(&world, "p").await["status"].clone();
    let operators = start(&world).await;
    // The server keeps neither an empty reason nor an empty message.
    let fed = Condition::new("example.com/Fed", true, "", "");
    say(&world, "p", &json!({"message": "fed", "conditions": [fed]}).to_string()).await;
    let is_said = |pod: &Value| pod["status"]["message"] == "fed";
    let pod = world.until(POD, "p", "the status of the handler", is_said).await;
    let is_fed = condition(&pod, "example.com/Fed");
    assert_eq!(is_fed["status"], "True");
    assert!(is_fed["lastTransitionTime"].is_string());
    expected["message"] = json!("fed");
    expected["conditions"].as_array_mut().unwrap().push(is_fed);
    assert_eq!(pod["status"], expected);
    operators.until_synced("minder", &world.namespace, "p").await;
    let writes = status_writes(&world);
    reconcile_again(&world, &operators, "p").await;
    assert_eq!(status_writes(&world), writes, "there is nothing to write");

    say(&world, "p", r#"{"reason": "Odd"}"#).await;
    let is_said = |pod: &Value| pod["status"]["reason"] == "Odd";
    let pod = world.until(POD, "p", "what the handler says now", is_said).await;
    expected["reason"] = json!("Odd");
    assert_eq!(pod["status"], expected, "what it no longer returns stays");
    operators.stop().await;
}
