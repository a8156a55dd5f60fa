//! Deeply nested objects: as deep as Go reads them, in every form of a write, and every read of them succeeds.

use bytes::Bytes;
use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use operetta_apiserver::Server;
use operetta_harness::Folder;
use serde_json::json;

use crate::common::{api, create, server, widget_definition};

const BAGS: &str = "/apis/example.com/v1/namespaces/default/bags";
const TARGET: &str = "/apis/example.com/v1/namespaces/default/bags/target";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";
/// How deep a text may be: whole objects, with what is around them.
const LIMIT: usize = 10_000;
/// Around the levels where an ordinary stack and parsers of JSON end, and near the limit.
const DEPTHS: [usize; 8] = [98, 99, 100, 101, 124, 128, 1_000, LIMIT - 20];

/// How a nested value gets into an object that exists.
const CHANGES: [(&str, &str); 5] = [
    ("PUT", "application/json"),
    ("PUT", "application/yaml"),
    ("PATCH", "application/merge-patch+json"),
    ("PATCH", "application/json-patch+json"),
    ("PATCH", "application/apply-patch+yaml"),
];

#[operetta_harness::test]
async fn a_deep_custom_object_is_written_in_every_form_and_every_read_succeeds() {
    let server = with_bags().await;
    for depth in DEPTHS {
        // Each field of a map has a manager, whose cost grows with the square of the depth.
        for (shape, value) in [("lists", lists(depth)), ("maps", maps(depth.min(1_000)))] {
            let name = format!("{shape}-{depth}");
            let made = send(&server, "POST", BAGS, "application/json", bag(&name, &value)).await;
            assert_eq!(made.0, 201, "{name}: {}", made.1);
            send(&server, "POST", BAGS, "application/json", bag("target", "1")).await;
            for (method, media) in CHANGES {
                let body = match media {
                    "application/json-patch+json" => {
                        format!(r#"[{{"op":"add","path":"/content","value":{value}}}]"#)
                    }
                    // Custom resources are updated at a version only.
                    _ if method == "PUT" => {
                        let version = server.resource_version();
                        let version = format!(r#""metadata":{{"resourceVersion":"{version}","#);
                        bag("target", &value).replacen(r#""metadata":{"#, &version, 1)
                    }
                    _ => bag("target", &value),
                };
                let is_apply = media.contains("apply");
                let query = if is_apply { "?fieldManager=test&force=true" } else { "" };
                let changed = send(&server, method, &format!("{TARGET}{query}"), media, body).await;
                assert_eq!(changed.0, 200, "{method} {media} {depth}: {}", changed.1);
                read_everything(&server, BAGS, TARGET).await;
            }
            watch_everything(&server, BAGS).await;
            send(&server, "DELETE", TARGET, "application/json", String::new()).await;
            send(&server, "DELETE", &format!("{BAGS}/{name}"), "", String::new()).await;
        }
    }
}

#[operetta_harness::test]
async fn an_object_deeper_than_the_limit_is_refused_in_every_form() {
    let server = with_bags().await;
    send(&server, "POST", BAGS, "application/json", bag("target", "1")).await;
    for value in [lists(LIMIT), maps(LIMIT), lists(1_000_000)] {
        let made = send(&server, "POST", BAGS, "application/json", bag("other", &value)).await;
        assert_eq!(made.0, 400, "{}", made.1);
        for (method, media) in CHANGES {
            let body = match media {
                "application/json-patch+json" => {
                    format!(r#"[{{"op":"add","path":"/content","value":{value}}}]"#)
                }
                _ => bag("target", &value),
            };
            let path = format!("{TARGET}?fieldManager=test");
            let changed = send(&server, method, &path, media, body).await;
            // YAML of many lines is too large before it is too deep.
            let is_refused = matches!(changed.0, 400 | 413);
            assert!(is_refused, "{method} {media}: {changed:?}");
        }
    }
    let deepest =
        send(&server, "POST", BAGS, "application/json", bag("o", &lists(LIMIT - 1))).await;
    assert_eq!(deepest.0, 201, "{}", deepest.1);
}

#[operetta_harness::test]
async fn a_json_patch_may_deepen_step_by_step() {
    let server = with_bags().await;
    send(&server, "POST", BAGS, "application/json", bag("target", "[]")).await;
    let wrap = r#"{"op":"move","from":"/content","path":"/inner"},
        {"op":"add","path":"/content","value":[]},
        {"op":"move","from":"/inner","path":"/content/0"}"#;
    let wraps = format!("[{}]", vec![wrap; 60].join(","));
    for _ in 0..5 {
        let patched =
            send(&server, "PATCH", TARGET, "application/json-patch+json", wraps.clone()).await;
        assert_eq!(patched.0, 200, "{}", patched.1);
        read_everything(&server, BAGS, TARGET).await;
    }
}

#[operetta_harness::test]
async fn a_built_in_object_may_have_deep_data_and_deep_fields_that_are_unknown() {
    let (server, _client) = server();
    for depth in DEPTHS {
        let name = format!("revision-{depth}");
        let body = format!(
            r#"{{"metadata":{{"name":"{name}"}},"revision":1,"data":{},"unknown":{}}}"#,
            maps(depth),
            lists(depth),
        );
        let made = send(&server, "POST", REVISIONS, "application/json", body).await;
        assert_eq!(made.0, 201, "{depth}: {}", made.1);
        let path = format!("{REVISIONS}/{name}");
        let patch = r#"{"metadata":{"labels":{"a":"b"}}}"#.to_owned();
        for media in ["application/merge-patch+json", "application/strategic-merge-patch+json"] {
            let patched = send(&server, "PATCH", &path, media, patch.clone()).await;
            assert_eq!(patched.0, 200, "{depth}: {}", patched.1);
        }
        read_everything(&server, REVISIONS, &path).await;
    }
    watch_everything(&server, REVISIONS).await;
}

#[operetta_harness::test]
async fn a_definition_is_not_deeper_than_an_ordinary_stack_bears() {
    let (server, _client) = server();
    let mut definition = widget_definition().to_string();
    let schema = format!(
        r#""properties":{{"deep":{}{{"type":"string"}}{},"#,
        r#"{"type":"object","properties":{"a":"#.repeat(100),
        "}}".repeat(100),
    );
    definition = definition.replacen(r#""properties":{"#, &schema, 1);
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = send(&server, "POST", path, "application/json", definition).await;
    assert_eq!(made.0, 400, "{}", made.1);
    assert!(made.1.contains("exceeded max depth"), "{}", made.1);
}

#[operetta_harness::test]
async fn deep_objects_are_there_after_a_restart() {
    let folder = Folder::new();
    let server = Server::builder().start_in(&folder.join("data")).unwrap();
    define_bags(&server).await;
    let deep = bag("target", &lists(9_000));
    assert_eq!(send(&server, "POST", BAGS, "application/json", deep).await.0, 201);
    server.close().await;
    let server = Server::builder().start_in(&folder.join("data")).unwrap();
    read_everything(&server, BAGS, TARGET).await;
}

async fn with_bags() -> Server {
    let (server, _client) = server();
    define_bags(&server).await;
    server
}

async fn define_bags(server: &Server) {
    let client = server.client();
    let definitions = api(&client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("bags.example.com");
    definition["spec"]["names"] = json!({"plural": "bags", "kind": "Bag"});
    definition["spec"]["versions"][0] = json!({
        "name": "v1",
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    create(&definitions, definition).await;
}

/// As text: most are too deep for a parser here.
fn bag(name: &str, content: &str) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Bag","metadata":{{"name":"{name}"}},"content":{content}}}"#
    )
}

fn lists(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

fn maps(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// Reads in all forms; a panic would end this test.
async fn read_everything(server: &Server, list: &str, object: &str) {
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let json = "application/json";
    let yaml = "application/yaml";
    let protobuf = "application/vnd.kubernetes.protobuf,application/json";
    let forms = [(object, json), (object, table), (object, partial), (object, yaml)];
    for (path, accept) in forms.into_iter().chain([(list, json), (list, table), (list, protobuf)]) {
        let request = Request::get(path).header("accept", accept).body(Bytes::new()).unwrap();
        let response = server.handle(request).await;
        assert_eq!(response.status(), 200, "{path} as {accept}");
        BodyExt::collect(response.into_body()).await.unwrap();
    }
}

/// Reads the first event in all forms.
async fn watch_everything(server: &Server, list: &str) {
    for form in ["", ";as=Table;g=meta.k8s.io;v=v1", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"]
    {
        let request = Request::get(format!("{list}?watch=true"));
        let request = request.header("accept", format!("application/json{form}"));
        let response = server.handle(request.body(Bytes::new()).unwrap()).await;
        let frame = response.into_body().next().await.unwrap().unwrap();
        assert!(frame.starts_with(br#"{"type":"ADDED""#));
    }
}

async fn send(
    server: &Server,
    method: &str,
    path: &str,
    media: &str,
    body: String,
) -> (u16, String) {
    let request = Request::builder().method(method).uri(path).header("content-type", media);
    let response = server.handle(request.body(Bytes::from(body)).unwrap()).await;
    let code = response.status().as_u16();
    let body = BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    (code, String::from_utf8_lossy(&body).chars().take(300).collect())
}
