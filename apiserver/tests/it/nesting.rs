//! Deeply nested objects: refused before they are stored, in every form of a write, so that every read succeeds.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http::Request;
use http_body_util::BodyExt;
use kube::{Client, api::WatchParams};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use crate::common::{api, create, server, widget_definition};

const BAGS: &str = "/apis/example.com/v1/namespaces/default/bags";
/// What the server stores at most, whole objects.
const LIMIT: usize = 100;
/// Around the limit, and around the 128 levels where parsers of JSON end: frames and managed fields add some.
const DEPTHS: [std::ops::RangeInclusive<usize>; 2] = [98..=101, 122..=126];

/// How a nested value gets into an object that exists.
const CHANGES: [(&str, &str); 6] = [
    ("PUT", "application/json"),
    ("PUT", "application/yaml"),
    ("PATCH", "application/merge-patch+json"),
    ("PATCH", "application/json-patch+json"),
    ("PATCH", "application/apply-patch+yaml"),
    ("PATCH", "application/apply-patch+cbor"),
];

#[operetta_harness::test]
async fn an_object_deeper_than_the_limit_is_refused_in_every_form_and_every_read_succeeds() {
    let (server, client) = server();
    define_bags(&client).await;
    for depth in DEPTHS.into_iter().flatten() {
        // The object itself is a level.
        let fits = depth < LIMIT;
        for (shape, value) in [("lists", lists(depth)), ("maps", maps(depth))] {
            for media in ["application/json", "application/yaml"] {
                let name = format!("{shape}-{depth}-{}", &media[12..]);
                let body = bag(&name, &value);
                let created = send(&server, "POST", BAGS, media, body).await;
                assert_eq!(created.0 == 201, fits, "{name}: {}", created.1);
            }
            let target = format!("{BAGS}/target");
            send(&server, "POST", BAGS, "application/json", bag("target", &json!(1))).await;
            for (method, media) in CHANGES {
                let body = match media {
                    "application/json-patch+json" => {
                        json!([{"op": "add", "path": "/content", "value": value}]).to_string()
                    }
                    // Custom resources are updated at a version only.
                    _ if method == "PUT" => {
                        at_version(&bag("target", &value), &newest(&client).await)
                    }
                    _ => bag("target", &value),
                };
                let is_apply = media.contains("apply");
                let query = if is_apply { "?fieldManager=test&force=true" } else { "" };
                let path = format!("{target}{query}");
                let changed = send(&server, method, &path, media, body).await;
                let fits = match media {
                    "application/apply-patch+cbor" => false,
                    // The list and the operation are levels too.
                    "application/json-patch+json" => depth + 2 <= LIMIT,
                    _ => fits,
                };
                assert_eq!(changed.0 == 200, fits, "{method} {media} {depth}: {}", changed.1);
                read_everything(&server, &target).await;
            }
            send(&server, "DELETE", &target, "application/json", String::new()).await;
        }
    }
    assert_eq!(watched(&client).await, 8, "two forms of two shapes of 98 and 99 levels");
}

#[operetta_harness::test]
async fn a_json_patch_that_deepens_step_by_step_is_refused_at_the_limit() {
    let (server, client) = server();
    define_bags(&client).await;
    send(&server, "POST", BAGS, "application/json", bag("target", &json!([]))).await;
    let target = format!("{BAGS}/target");
    let wrap = json!([
        {"op": "move", "from": "/content", "path": "/inner"},
        {"op": "add", "path": "/content", "value": []},
        {"op": "move", "from": "/inner", "path": "/content/0"},
    ]);
    let mut depth = 2;
    let media = "application/json-patch+json";
    while send(&server, "PATCH", &target, media, wrap.to_string()).await.0 == 200 {
        depth += 1;
        assert!(depth <= LIMIT);
        read_everything(&server, &target).await;
    }
    assert_eq!(depth, LIMIT);
}

async fn define_bags(client: &Client) {
    let definitions = api(client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
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

fn bag(name: &str, content: &Value) -> String {
    let head = json!({"apiVersion": "example.com/v1", "kind": "Bag", "metadata": {"name": name}});
    let mut bag = head;
    bag["content"] = content.clone();
    bag.to_string()
}

fn at_version(bag: &str, version: &str) -> String {
    // As text: some are too deep for a parser.
    bag.replacen("\"metadata\":{", &format!("\"metadata\":{{\"resourceVersion\":\"{version}\","), 1)
}

async fn newest(client: &Client) -> String {
    let target = api(client, "example.com/v1", "Bag", "default").get_metadata("target").await;
    target.unwrap().metadata.resource_version.unwrap()
}

fn lists(depth: usize) -> Value {
    (0..depth).fold(json!("innermost"), |value, _| json!([value]))
}

fn maps(depth: usize) -> Value {
    (0..depth).fold(json!("innermost"), |value, _| json!({"a": value}))
}

/// Reads in all forms; a panic would end this test.
async fn read_everything(server: &Server, target: &str) {
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let json = "application/json";
    for (path, accept) in [(target, json), (target, table), (target, partial), (BAGS, json)] {
        let request = Request::get(path).header("accept", accept).body(Bytes::new()).unwrap();
        let response = server.handle(request).await;
        assert_eq!(response.status(), 200, "{path} as {accept}");
        BodyExt::collect(response.into_body()).await.unwrap();
    }
}

/// How many objects a watch begins with.
async fn watched(client: &Client) -> usize {
    let bags = api(client, "example.com/v1", "Bag", "default");
    let all = bags.list(&kube::api::ListParams::default()).await.unwrap().items.len();
    let events = bags.watch(&WatchParams::default(), "0").await.unwrap();
    events.take(all).try_collect::<Vec<_>>().await.unwrap().len()
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
