//! Types as clients see them: discovery, `OpenAPI`, tables, versions, partial metadata.

use http::{Request, header};
use http_body_util::BodyExt;
use kube::api::{ListParams, Patch, PatchParams};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use crate::common::{
    api, config_map, config_maps, create, define_widgets, refusal, server, widget,
    widget_definition, widgets,
};

async fn get(server: &Server, path: &str, accept: &str) -> (u16, Value) {
    let request = Request::get(path).header(header::ACCEPT, accept).body(bytes::Bytes::new());
    let response = server.handle(request.unwrap()).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

#[operetta_harness::test]
async fn a_table_has_the_columns_of_the_definition() {
    let (server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 7)).await;
    let path = "/apis/example.com/v1/namespaces/default/widgets";
    let (_, table) = get(&server, path, TABLE).await;
    let columns = table["columnDefinitions"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["Name", "Size", "Age"]);
    assert_eq!(table["rows"][0]["cells"][0], "a");
    assert_eq!(table["rows"][0]["cells"][1], 7);
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

#[operetta_harness::test]
async fn discovery_lists_custom_and_built_in_resources() {
    let (server, client) = server();
    define_widgets(&client).await;
    let (_, list) = get(&server, "/apis/example.com/v1", "*/*").await;
    assert_eq!(list["resources"][0]["shortNames"], json!(["wd"]));
    assert_eq!(list["resources"][1]["name"], "widgets/status");
    let (_, groups) = get(&server, "/apis", "*/*").await;
    let groups = groups["groups"].as_array().unwrap();
    for name in ["apps", "example.com", "apiextensions.k8s.io"] {
        assert!(groups.iter().any(|group| group["name"] == name), "{name}");
    }
    let kind = kube::core::GroupVersionKind::gvk("example.com", "v1", "Widget");
    let (found, _) = kube::discovery::pinned_kind(&client, &kind).await.unwrap();
    assert_eq!(found.plural, "widgets");
}

#[operetta_harness::test]
async fn open_api_supports_field_validation_and_has_custom_schemas() {
    let (server, client) = server();
    define_widgets(&client).await;
    let (_, index) = get(&server, "/openapi/v3", "*/*").await;
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let (_, document) = get(&server, url, "*/*").await;
    let path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}";
    let parameters = document["paths"][path]["patch"]["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"));
    let schema = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(schema["properties"]["status"]["properties"]["phase"]["type"], "string");
    assert_eq!(schema["x-kubernetes-group-version-kind"][0]["kind"], "Widget");
}

#[operetta_harness::test]
async fn metadata_is_served_without_the_rest() {
    let (_server, client) = server();
    create(&config_maps(&client), config_map("a", "1")).await;
    let list = config_maps(&client).list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].metadata.name.as_deref(), Some("a"));
}

#[operetta_harness::test]
async fn a_version_shows_objects_stored_in_another_without_its_own_defaults() {
    let (_server, client) = server();
    let mut definition = widget_definition();
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let mut second = versions[0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    let spec = &mut second["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    spec["weight"] = json!({"type": "integer", "default": 3});
    versions.push(second);
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    create(&definitions, definition).await;
    create(&widgets(&client), widget("a", 1)).await;
    let second = api(&client, "example.com/v2", "Widget", "default").get("a").await.unwrap();
    assert_eq!(second.types.unwrap().api_version, "example.com/v2");
    // The defaults of the stored version are set before the conversion, and no others after it.
    assert_eq!(second.data["spec"], json!({"size": 1, "color": "red"}));
    assert!(widgets(&client).get("a").await.unwrap().data["spec"].get("weight").is_none());
}

#[operetta_harness::test]
async fn a_changed_schema_shows_in_objects_that_were_stored_before() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let mut definition = widget_definition();
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    definition.pointer_mut(schema).unwrap()["weight"] = json!({"type": "integer", "default": 3});
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    let merge = Patch::Merge(json!({"spec": definition["spec"]}));
    definitions.patch("widgets.example.com", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(widgets(&client).get("a").await.unwrap().data["spec"]["weight"], 3);
}

#[operetta_harness::test]
async fn a_definition_whose_names_are_taken_is_not_served() {
    let (_server, client) = server();
    define_widgets(&client).await;
    let mut other = widget_definition();
    other["metadata"]["name"] = json!("gadgets.example.com");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget", "shortNames": ["wd"]});
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    create(&definitions, other).await;
    let made = definitions.get("gadgets.example.com").await.unwrap();
    let conditions = made.data["status"]["conditions"].as_array().unwrap();
    let refused = conditions.iter().find(|c| c["type"] == "NamesAccepted").unwrap();
    assert_eq!(
        (&refused["status"], &refused["reason"]),
        (&json!("False"), &json!("ShortNamesConflict"))
    );
    let gadgets = api(&client, "example.com/v1", "Gadget", "default");
    let (code, _, _) = refusal(gadgets.list(&ListParams::default()).await);
    assert_eq!(code, 404);
}
