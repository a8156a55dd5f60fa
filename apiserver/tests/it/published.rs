//! What the embedded and the real server publish of their types must be the same: discovery in both forms, and all
//! `OpenAPI` documents, with a custom type. Without the programs of the real control plane the test is ignored.

use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use operetta_apiserver::Server;
use operetta_controlplane::ControlPlane;
use serde_json::{Value, json};

use crate::common::control_plane;

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

struct Pair {
    embedded: Client,
    real: Client,
    _server: Server,
    _control_plane: ControlPlane,
}

impl Pair {
    async fn start() -> Self {
        let control_plane = control_plane::own().await;
        let server = Server::start();
        let embedded = server.client_as("published/1.0");
        let real = control_plane.client().unwrap();
        let pair = Self { embedded, real, _server: server, _control_plane: control_plane };
        for client in [&pair.embedded, &pair.real] {
            define(client).await;
        }
        pair
    }

    /// What both answer.
    async fn documents(&self, path: &str, accept: &str) -> [Value; 2] {
        let embedded = document(&self.embedded, path, accept).await;
        [embedded, document(&self.real, path, accept).await]
    }
}

/// Defines a type with most of what a schema can say, and waits until it is published.
async fn define(client: &Client) {
    let text = include_str!("published.yaml");
    let body = serde_json::to_vec(&serde_yaml_ng::from_str::<Value>(text).unwrap()).unwrap();
    let request = Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        .header(header::CONTENT_TYPE, "application/json");
    let created = client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
    assert_eq!(created.status(), StatusCode::CREATED);
    let is_published =
        |of: &Value| of["paths"].as_object().unwrap().keys().any(|path| path.contains("gadgets"));
    let group = "apis/example.com/v1";
    while document(client, "/openapi/v3", "").await["paths"].get(group).is_none()
        || !is_published(
            &document(client, &format!("/openapi/v3/{group}"), "application/json").await,
        )
        || !is_published(&document(client, "/openapi/v2", "application/json").await)
    {
        tokio::task::yield_now().await;
    }
}

async fn document(client: &Client, path: &str, accept: &str) -> Value {
    let mut request = Request::get(path);
    if !accept.is_empty() {
        request = request.header(header::ACCEPT, accept);
    }
    let response = client.send(request.body(Body::empty()).unwrap()).await.unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Where two documents differ, as a few paths.
fn differences(ours: &Value, theirs: &Value, at: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
                let [a, b] = [ours, theirs].map(|it| it.get(key).unwrap_or(&Value::Null));
                differences(a, b, &format!("{at} > {key}"), found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{at}\n  embedded {ours:.300}\n  real     {theirs:.300}")),
    }
}

fn assert_same(path: &str, [ours, theirs]: &[Value; 2]) {
    let mut found = Vec::new();
    differences(ours, theirs, path, &mut found);
    found.truncate(5);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(!ours.is_null(), "{path}: no JSON");
}

#[operetta_harness::test]
async fn both_servers_publish_the_same_types() {
    let pair = Pair::start().await;
    discovery_is_the_same(&pair).await;
    version_3_is_the_same(&pair).await;
    version_2_is_the_same(&pair).await;
}

async fn discovery_is_the_same(pair: &Pair) {
    for path in ["/api", "/apis"] {
        assert_same(path, &pair.documents(path, AGGREGATED).await);
    }
    let groups = pair.documents("/apis", "application/json").await;
    assert_same("/apis", &groups);
    let mut paths = vec!["/api/v1".to_owned()];
    for group in groups[0]["groups"].as_array().unwrap() {
        paths.push(format!("/apis/{}", group["name"].as_str().unwrap()));
        let versions = group["versions"].as_array().unwrap();
        paths.extend(
            versions.iter().map(|it| format!("/apis/{}", it["groupVersion"].as_str().unwrap())),
        );
    }
    for path in paths {
        assert_same(&path, &pair.documents(&path, "application/json").await);
    }
}

async fn version_3_is_the_same(pair: &Pair) {
    let names = |index: &Value| -> Vec<String> {
        index["paths"].as_object().unwrap().keys().cloned().collect()
    };
    let [ours, theirs] = pair.documents("/openapi/v3", "").await;
    assert_eq!(names(&ours), names(&theirs));
    for name in names(&ours) {
        let path = format!("/openapi/v3/{name}");
        assert_same(&path, &pair.documents(&path, "application/json").await);
    }
}

async fn version_2_is_the_same(pair: &Pair) {
    assert_same("/openapi/v2", &pair.documents("/openapi/v2", "application/json").await);
}

#[operetta_harness::test]
async fn a_document_is_sent_again_only_if_it_has_changed() {
    let server = Server::start();
    let client = server.client_as("published/1.0");
    let ask = async |path: &str, accept: &str, known: &str| {
        let request = Request::get(path).header(header::ACCEPT, accept);
        let request = request.header(header::IF_NONE_MATCH, known).body(Body::empty()).unwrap();
        let response = client.send(request).await.unwrap();
        let tag = response.headers().get(header::ETAG).map(|tag| tag.to_str().unwrap().to_owned());
        let (status, body) = (response.status(), response.into_body().collect().await.unwrap());
        (status, tag.unwrap_or_default(), body.to_bytes().is_empty())
    };
    let custom = "/openapi/v3/apis/example.com/v1";
    let (status, tag, _) = ask(custom, "*/*", "").await;
    assert_eq!((status, tag.as_str()), (StatusCode::NOT_FOUND, ""));
    define(&client).await;
    for (path, accept) in [
        ("/apis", AGGREGATED),
        ("/openapi/v2", "application/json"),
        ("/openapi/v3/apis/apps/v1", "*/*"),
        (custom, "*/*"),
    ] {
        let (status, tag, _) = ask(path, accept, "\"\"").await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(ask(path, accept, &tag).await, (StatusCode::NOT_MODIFIED, tag, true), "{path}");
    }
}

#[operetta_harness::test]
async fn a_document_of_another_version_is_asked_for_again() {
    let server = Server::start();
    let client = server.client_as("published/1.0");
    let index = document(&client, "/openapi/v3", "").await;
    let current = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
    let request = Request::get("/openapi/v3/apis/apps/v1?hash=0").body(Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    let text = |name| response.headers()[name].to_str().unwrap();
    assert_eq!(response.status(), StatusCode::MOVED_PERMANENTLY);
    assert_eq!(text(header::LOCATION), current);
    assert_eq!(document(&client, current, "").await["openapi"], json!("3.0.0"));
}

#[operetta_harness::test]
async fn documents_are_also_sent_as_protobuf() {
    let server = Server::start();
    let client = server.client_as("published/1.0");
    for (path, media) in [
        ("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
        ("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"),
    ] {
        let request = Request::get(path).header(header::ACCEPT, media).body(Body::empty()).unwrap();
        let response = client.send(request).await.unwrap();
        assert_eq!(response.headers()[header::CONTENT_TYPE], media.replace('@', "."));
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        // The first field is the version of the form.
        assert_eq!(bytes[..2], [0x0a, if path.ends_with('2') { 3 } else { 5 }]);
    }
}
