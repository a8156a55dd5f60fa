//! Its example `temp-namespace`.

use serde_json::{Value, json};

use super::program;
use crate::{program::Program, world::World};

const PARENTS: &str = "/apis/example.roperator.com/v1alpha1/tempnamespaces";

#[operetta_harness::test]
#[ignore = "takes a crate from the registry: .ci/long roperator"]
async fn a_temporary_namespace_ends_with_its_time_and_not_with_an_error() {
    let world = World::new().await;
    let program = Program::start(program("temp-namespace"));
    let parent = world
        .create(
            PARENTS,
            json!({
                "apiVersion": "example.roperator.com/v1alpha1", "kind": "TempNamespace",
                "metadata": {"generateName": "temporary-"}, "spec": {"deleteAfter": "10m"},
            }),
        )
        .await;
    let name = parent["metadata"]["name"].as_str().unwrap();
    let (path, namespace) = (format!("{PARENTS}/{name}"), format!("/api/v1/namespaces/{name}"));

    let first = world.until(&namespace, "created", Value::is_object).await;
    let is_recorded = |parent: &Value| parent["status"]["createdAt"].is_string();
    let parent = world.until(&path, "the creation in its status", is_recorded).await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["temp-namespace-example"]));

    world.delete(&namespace).await;
    let is_new =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != first["metadata"]["uid"];
    let second = world.until(&namespace, "created again", is_new).await;

    // roperator deletes the namespace, with everything in it.
    world.patch(&path, json!({"spec": {"deleteAfter": "soon"}})).await;
    let is_told = |parent: &Value| parent["status"]["error"].is_string();
    let parent = world.until(&path, "the error in its status", is_told).await;
    let error = parent["status"]["error"].as_str().unwrap();
    assert!(error.starts_with("invalid TempNamepsace resource:"), "{error}");
    let now = world.get(&namespace).await;
    assert_eq!(now["metadata"]["uid"], second["metadata"]["uid"]);
    assert!(now["metadata"]["deletionTimestamp"].is_null());

    world.patch(&path, json!({"spec": {"deleteAfter": "0s"}})).await;
    world.until_gone(&namespace).await;
    let is_over = |parent: &Value| {
        parent["status"]["deletedAt"].is_string() && parent["status"]["error"].is_null()
    };
    world.until(&path, "the end in its status", is_over).await;

    world.delete(&path).await;
    world.until_gone(&path).await;
    assert_eq!(program.terminate().code(), Some(1), "as its `main` says");
}
