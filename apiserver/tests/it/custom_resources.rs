//! Custom resource definitions and their objects.

use futures::TryStreamExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use serde_json::json;

use crate::common::{
    api, config_map, config_maps, create, define_widgets, gone, object, refusal, server, widget,
    widgets,
};

#[operetta_harness::test]
async fn a_definition_is_served_as_soon_as_its_creation_is_answered() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let made = create(&widgets(&client), widget("a", 1)).await;
    assert_eq!(made.data["spec"]["color"], "red");
    assert_eq!(made.metadata.generation, Some(1));
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    let definition = definitions.get("widgets.example.com").await.unwrap();
    let conditions = definition.data["status"]["conditions"].as_array().unwrap();
    let is = |kind| conditions.iter().any(|c| c["type"] == kind && c["status"] == "True");
    assert!(is("Established") && is("NamesAccepted"), "{conditions:?}");
}

#[operetta_harness::test]
async fn undeclared_fields_are_dropped() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let mut odd = widget("a", 1);
    odd["spec"]["odd"] = json!(true);
    let made = create(&widgets(&client), odd).await;
    assert!(made.data["spec"].get("odd").is_none());
}

#[operetta_harness::test]
async fn the_status_is_written_through_its_own_path_only() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let api = widgets(&client);
    let mut first = widget("a", 1);
    first["status"] = json!({"phase": "Ready"});
    let made = create(&api, first).await;
    assert!(made.data.get("status").is_none());
    let params = PatchParams::default();
    let both = Patch::Merge(json!({"spec": {"size": 2}, "status": {"phase": "Ready"}}));
    let status = api.patch_status("a", &params, &both).await.unwrap();
    assert_eq!(
        (&status.data["spec"]["size"], &status.data["status"]["phase"]),
        (&json!(1), &json!("Ready"))
    );
    assert_eq!(status.metadata.generation, Some(1));
    let main = api
        .patch("a", &params, &Patch::Merge(json!({"spec": {"size": 2}, "status": null})))
        .await
        .unwrap();
    assert_eq!(
        (&main.data["spec"]["size"], &main.data["status"]["phase"]),
        (&json!(2), &json!("Ready"))
    );
    assert_eq!(main.metadata.generation, Some(2));
}

#[operetta_harness::test]
async fn a_replace_needs_a_resource_version() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let api = widgets(&client);
    create(&api, widget("a", 1)).await;
    let replaced = api.replace("a", &PostParams::default(), &object(widget("a", 2))).await;
    let (code, _, message) = refusal(replaced);
    assert_eq!(code, 422);
    assert!(message.contains("metadata.resourceVersion"), "{message}");
}

#[operetta_harness::test]
async fn a_wrong_value_is_refused_with_the_path_of_its_field() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let wrong = object(json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"size": "big"},
    }));
    let (code, _, message) = refusal(widgets(&client).create(&PostParams::default(), &wrong).await);
    assert_eq!(code, 422);
    assert!(message.contains("spec.size"), "{message}");
}

#[operetta_harness::test]
async fn deleting_a_definition_deletes_its_objects_and_its_paths() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    gone(&definitions, "widgets.example.com").await;
    let (code, _, _) = refusal(widgets(&client).get("a").await);
    assert_eq!(code, 404);
}

#[operetta_harness::test]
async fn children_are_deleted_with_the_definition_of_their_owners() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let owner = create(&widgets(&client), widget("a", 1)).await;
    let mut child = config_map("child", "1");
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": owner.metadata.uid,
    }]);
    create(&config_maps(&client), child).await;
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    gone(&config_maps(&client), "child").await;
}

#[operetta_harness::test]
async fn empty_metadata_is_absent_metadata() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let mut empty = widget("a", 1);
    empty["metadata"]["finalizers"] = json!([]);
    empty["metadata"]["labels"] = json!({});
    let made = create(&widgets(&client), empty).await;
    assert_eq!((made.metadata.finalizers, made.metadata.labels), (None, None));
}

#[operetta_harness::test]
async fn a_watch_sends_earlier_events_and_ends_when_the_schema_of_its_type_changes() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let events =
        widgets(&client).watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    let mut definition = definitions.get("widgets.example.com").await.unwrap();
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties";
    definition.data.pointer_mut(schema).unwrap()["more"] = json!({"type": "string"});
    definitions.replace("widgets.example.com", &<_>::default(), &definition).await.unwrap();
    let told: Vec<_> = events.try_collect().await.unwrap();
    assert!(matches!(told.as_slice(), [WatchEvent::Added(_)]), "{told:?}");
}

#[operetta_harness::test]
async fn a_watch_sends_the_last_deletions_and_ends_with_its_definition() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let params = WatchParams::default().disable_bookmarks();
    let events = widgets(&client).watch(&params, "0").await.unwrap();
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let told: Vec<_> = events.try_collect().await.unwrap();
    assert!(matches!(told.as_slice(), [WatchEvent::Added(_), WatchEvent::Deleted(_)]), "{told:?}");
}
