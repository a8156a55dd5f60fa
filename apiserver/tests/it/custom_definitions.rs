//! Definitions of custom resources: what becomes of them and of their objects when they change or go.

use futures::TryStreamExt;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::common::{
    api, apply, create, define_widgets, gone, object, refusal, server, widget, widget_definition,
    widgets,
};

const NAME: &str = "widgets.example.com";

fn definitions(client: &Client) -> Api<DynamicObject> {
    api(client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "")
}

/// Status and reason of a condition of a definition.
async fn condition(client: &Client, name: &str, kind: &str) -> Option<(String, String)> {
    let definition = definitions(client).get(name).await.unwrap();
    let conditions =
        definition.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    Some((text("status"), text("reason")))
}

/// Creates a Widget that its finalizer holds, and deletes the definition.
async fn hold(client: &Client) {
    define_widgets(client).await;
    let mut held = widget("held", 1);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&widgets(client), held).await;
    create(&widgets(client), widget("free", 1)).await;
    definitions(client).delete(NAME, &DeleteParams::default()).await.unwrap();
    gone(&widgets(client), "free").await;
}

/// Lets the object go that [`hold`] made.
async fn release(client: &Client) {
    let none = json!({"metadata": {"finalizers": null}});
    widgets(client).patch("held", &PatchParams::default(), &Patch::Merge(none)).await.unwrap();
}

#[operetta_harness::test]
async fn a_definition_stays_while_an_object_of_it_does() {
    let (_server, client) = server();
    hold(&client).await;
    let expected = ("True".to_owned(), "InstanceDeletionInProgress".to_owned());
    assert_eq!(condition(&client, NAME, "Terminating").await, Some(expected));
    let definition = definitions(&client).get(NAME).await.unwrap();
    let cleanup = "customresourcecleanup.apiextensions.k8s.io".to_owned();
    assert_eq!(definition.metadata.finalizers, Some(vec![cleanup]));
    assert_eq!(definition.metadata.generation, Some(1));
    assert_eq!(widgets(&client).list(&<_>::default()).await.unwrap().items.len(), 1);
    release(&client).await;
    gone(&definitions(&client), NAME).await;
    assert_eq!(refusal(widgets(&client).get("held").await).0, 404);
}

#[operetta_harness::test]
async fn nothing_is_created_while_its_definition_goes() {
    let (_server, client) = server();
    hold(&client).await;
    let refused = "widgets.example.com \"b\" is forbidden: create not allowed while custom resource \
                   definition is terminating";
    let created = widgets(&client).create(&PostParams::default(), &object(widget("b", 1))).await;
    assert_eq!(refusal(created), (403, "Forbidden".to_owned(), refused.to_owned()));
    let applied = apply(&widgets(&client), "b", "test", &widget("b", 1)).await;
    assert_eq!(refusal(applied).2, refused);
    let (definitions, again) = (definitions(&client), object(widget_definition()));
    let (code, _, message) = refusal(definitions.create(&PostParams::default(), &again).await);
    assert_eq!(code, 409);
    assert!(message.starts_with("object is being deleted: "), "{message}");
    release(&client).await;
    gone(&definitions, NAME).await;
    define_widgets(&client).await;
    create(&widgets(&client), widget("b", 1)).await;
}

#[operetta_harness::test]
async fn discovery_lists_no_writes_of_a_type_that_goes() {
    let (_server, client) = server();
    hold(&client).await;
    let request = http::Request::get("/apis/example.com/v1").body(Vec::new()).unwrap();
    let listed: Value = client.request(request).await.unwrap();
    let verbs = json!(["delete", "deletecollection", "get", "list", "watch"]);
    assert_eq!(listed["resources"][0]["verbs"], verbs);
}

#[operetta_harness::test]
async fn a_watch_that_begins_late_sees_the_last_object_go() {
    let (_server, client) = server();
    hold(&client).await;
    let params = WatchParams::default().disable_bookmarks();
    let events = widgets(&client).watch(&params, "0").await.unwrap();
    release(&client).await;
    let told: Vec<_> = events.try_collect().await.unwrap();
    assert!(matches!(told.as_slice(), [WatchEvent::Added(_), WatchEvent::Deleted(_)]), "{told:?}");
}

#[operetta_harness::test]
async fn a_definition_gets_a_name_when_another_one_gives_it_up() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let mut second = widget_definition();
    second["metadata"]["name"] = json!("others.example.com");
    second["spec"]["names"] = json!({"plural": "others", "kind": "Widget"});
    create(&definitions(&client), second).await;
    let status = condition(&client, "others.example.com", "NamesAccepted").await;
    assert_eq!(status, Some(("False".to_owned(), "ListKindConflict".to_owned())));
    let status = condition(&client, "others.example.com", "Established").await;
    assert_eq!(status, Some(("False".to_owned(), "NotAccepted".to_owned())));
    definitions(&client).delete(NAME, &DeleteParams::default()).await.unwrap();
    gone(&definitions(&client), NAME).await;
    // The controller gives the names away after the deletion is visible.
    let established = Some(("True".to_owned(), "InitialNamesAccepted".to_owned()));
    while condition(&client, "others.example.com", "Established").await != established {
        tokio::task::yield_now().await;
    }
}

/// The schema of the specification of Widgets.
const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";

#[operetta_harness::test]
async fn what_a_stricter_schema_finds_wrong_may_stay_until_it_changes() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let mut definition = definitions(&client).get(NAME).await.unwrap();
    definition.data.pointer_mut(SPEC).unwrap()["size"]["minimum"] = json!(5);
    definitions(&client).replace(NAME, &<_>::default(), &definition).await.unwrap();
    let patch = async |spec: Value| {
        let patch = Patch::Merge(json!({ "spec": spec }));
        widgets(&client).patch("a", &PatchParams::default(), &patch).await
    };
    patch(json!({"color": "blue"})).await.unwrap();
    let (code, _, message) = refusal(patch(json!({"size": 2})).await);
    assert_eq!(code, 422);
    assert!(message.contains("spec.size: Invalid value: 2"), "{message}");
}

#[operetta_harness::test]
async fn the_scope_of_a_served_definition_is_immutable() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let mut definition = definitions(&client).get(NAME).await.unwrap();
    definition.data["spec"]["scope"] = json!("Cluster");
    let changed = definitions(&client).replace(NAME, &<_>::default(), &definition).await;
    assert!(
        refusal(changed).2.contains("spec.scope: Invalid value: \"Cluster\": field is immutable")
    );
}

#[operetta_harness::test]
async fn a_definition_is_read_as_the_struct_that_it_is() {
    let (_server, client) = server();
    let mut definition = widget_definition();
    let fields = definition.pointer_mut(SPEC).unwrap();
    fields["color"] = json!({"type": "string", "nullable": false, "unknown": 1, "maxLength": 5});
    fields["size"]["minimum"] = json!(2.0);
    let made = create(&definitions(&client), definition.clone()).await;
    let kept = made.data.pointer(SPEC).unwrap();
    assert_eq!(kept["color"], json!({"type": "string", "maxLength": 5}));
    assert_eq!(kept["size"].to_string(), r#"{"minimum":2,"type":"integer"}"#);
    definition["metadata"]["name"] = json!("others.example.com");
    definition.pointer_mut(SPEC).unwrap()["color"]["maxLength"] = json!("5");
    let wrong = definitions(&client).create(&PostParams::default(), &object(definition)).await;
    let expected = "CustomResourceDefinition in version \"v1\" cannot be handled as a \
                    CustomResourceDefinition: json: cannot unmarshal string into Go struct field \
                    JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.maxLength of \
                    type int64";
    assert_eq!(refusal(wrong), (400, "BadRequest".to_owned(), expected.to_owned()));
}

#[operetta_harness::test]
async fn a_schema_of_fifty_levels_is_accepted() {
    let (_server, client) = server();
    let mut definition = widget_definition();
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    definition.pointer_mut(SPEC).unwrap()["deep"] = deep;
    create(&definitions(&client), definition).await;
}
