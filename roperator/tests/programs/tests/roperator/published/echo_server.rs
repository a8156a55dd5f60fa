//! Its example `echo-server`.

use serde_json::{Value, json};

use super::program;
use crate::{program::Program, world::World};

/// The paths of the objects of one echo server.
struct Paths {
    parent: String,
    pod: String,
    service: String,
}

impl Paths {
    fn of(namespace: &str) -> Self {
        let of_core = |plural: &str| format!("/api/v1/namespaces/{namespace}/{plural}/hello");
        let group = "/apis/example.roperator.com/v1alpha1";
        let parent = format!("{group}/namespaces/{namespace}/echoservers/hello");
        Self { parent, pod: of_core("pods"), service: of_core("services") }
    }
}

fn echo_server() -> Value {
    json!({
        "apiVersion": "example.roperator.com/v1alpha1", "kind": "EchoServer",
        "metadata": {"name": "hello"}, "spec": {"serviceName": "greeting"},
    })
}

fn uid(object: &Value) -> &Value {
    &object["metadata"]["uid"]
}

#[operetta_harness::test]
#[ignore = "takes a crate from the registry: .ci/long roperator"]
async fn the_echo_server_keeps_a_pod_and_a_service() {
    let world = World::new().await;
    let namespace = world.namespace("echo").await;
    let paths = Paths::of(&namespace);
    let program = Program::start(program("echo-server"));
    let collection = paths.parent.trim_end_matches("/hello");
    let parent = world.create(collection, echo_server()).await;

    let pod = world.until(&paths.pod, "created", Value::is_object).await;
    let service = world.until(&paths.service, "created", Value::is_object).await;
    for child in [&pod, &service] {
        let metadata = &child["metadata"];
        assert_eq!(metadata["labels"]["app.kubernetes.io/instance"], *uid(&parent));
        assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "echoserver-example");
        assert_eq!(metadata["ownerReferences"][0]["uid"], *uid(&parent));
    }
    let is_waiting = |parent: &Value| {
        parent["status"]["message"] == "Waiting for Pod to be initialized"
            && parent["status"]["phase"] == "Running"
    };
    let parent = world.until(&paths.parent, "its status", is_waiting).await;
    assert!(parent["metadata"]["finalizers"].is_null(), "functions have no finalizer: {parent}");

    shows_the_pods_message(&world, &paths).await;
    repairs_drift(&world, &paths, &pod).await;
    survives_an_error(&world, &paths).await;
    program.assert_serves_health_and_metrics();

    world.delete(&paths.parent).await;
    for path in [&paths.parent, &paths.pod, &paths.service] {
        world.until_gone(path).await;
    }
    assert_eq!(program.terminate().code(), Some(1), "as its `main` says");
    world.delete(&format!("/api/v1/namespaces/{namespace}")).await;
}

async fn shows_the_pods_message(world: &World, paths: &Paths) {
    world.patch_status(&paths.pod, json!({"message": "pulling"})).await;
    let is_shown = |parent: &Value| parent["status"]["message"] == "pulling";
    world.until(&paths.parent, "the message of the Pod", is_shown).await;
}

async fn repairs_drift(world: &World, paths: &Paths, pod: &Value) {
    let selector = json!({"spec": {"selector": {"app.kubernetes.io/name": "another"}}});
    world.patch(&paths.service, selector).await;
    let is_repaired =
        |service: &Value| service["spec"]["selector"]["app.kubernetes.io/name"] == "greeting";
    world.until(&paths.service, "repaired", is_repaired).await;

    world.delete(&paths.pod).await;
    let is_new = |now: &Value| now.is_object() && uid(now) != uid(pod);
    let second = world.until(&paths.pod, "created again", is_new).await;

    world.patch(&paths.parent, json!({"spec": {"serviceName": "farewell"}})).await;
    let is_recreated = |now: &Value| {
        let value = &now["spec"]["containers"][0]["env"][0]["value"];
        value == "farewell" && uid(now) != uid(&second)
    };
    world.until(&paths.pod, "recreated with the new name", is_recreated).await;
}

/// roperator deletes the Pod and the Service.
async fn survives_an_error(world: &World, paths: &Paths) {
    let before = [world.get(&paths.pod).await, world.get(&paths.service).await];
    world.patch(&paths.parent, json!({"spec": {"serviceName": null}})).await;
    let is_told = |parent: &Value| {
        let message = parent["status"]["message"].as_str().unwrap_or_default();
        parent["status"]["phase"] == "Error" && message.contains("serviceName")
    };
    world.until(&paths.parent, "the error", is_told).await;
    for (path, before) in [&paths.pod, &paths.service].iter().zip(&before) {
        let now = world.get(path).await;
        assert_eq!(uid(&now), uid(before), "{path} stays");
        assert!(now["metadata"]["deletionTimestamp"].is_null(), "{path} stays");
    }
}
