//! No request keeps a thread that serves connections for long.

use std::{fmt::Write, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

use crate::{Server, aside::watchdog};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long others may have to wait; in this build all is many times as slow.
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 60 } else { 20 });

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_keeps_a_thread_that_serves_connections() {
    if !std::fs::exists("/proc/thread-self/schedstat").unwrap_or_default() {
        return;
    }
    let server = Server::start();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let client = client(running.kubeconfig()).await;
    let large = large_object();
    for (method, path, media, body) in [
        ("POST", CONFIG_MAPS, "json", large.as_str()),
        ("PATCH", "/api/v1/namespaces/default/configmaps/large", "merge-patch+json", LABELS),
        ("PATCH", "/api/v1/namespaces/default/configmaps/large", "json-patch+json", ADD),
        ("POST", DEFINITIONS, "json", &definition()),
        ("GET", "/openapi/v2", "", ""),
        ("GET", "/openapi/v3", "", ""),
        ("GET", "/openapi/v3/apis/example.com/v1", "", ""),
        ("GET", "/openapi/v3/api/v1", "", ""),
        ("GET", "/apis", "", ""),
    ] {
        send(&client, method, path, media, body).await;
        measured(method, path);
    }
    for at in 0..1_500 {
        let object =
            json!({"metadata": {"name": format!("c{at}")}, "data": {"a": "x".repeat(1_000)}});
        let mut object: Value = object;
        (object["apiVersion"], object["kind"]) = (json!("v1"), json!("ConfigMap"));
        let request = http::Request::post(CONFIG_MAPS).body(object.to_string().into()).unwrap();
        server.handle(request).await;
    }
    for accept in ["json", "json;as=Table;v=v1;g=meta.k8s.io", "yaml", "vnd.kubernetes.protobuf"] {
        get(&client, CONFIG_MAPS, accept).await;
        measured("list", accept);
    }
    send(&client, "DELETE", CONFIG_MAPS, "", "").await;
    measured("DELETE", CONFIG_MAPS);
    running.stop().await;
}

fn measured(method: &str, what: &str) {
    let longest = watchdog::longest();
    assert!(longest < PATIENCE, "{method} {what} keeps a thread for {longest:?}");
}

const LABELS: &str = r#"{"metadata":{"labels":{"a":"b"}}}"#;
const ADD: &str = r#"[{"op":"add","path":"/data/more","value":"x"}]"#;

fn large_object() -> String {
    let mut data = String::new();
    for at in 0..30_000 {
        let _ = write!(data, r#""key-{at}":"value","#);
    }
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"large"}},"data":{{{data}"last":""}}}}"#
    )
}

/// With a schema of 2,000 fields.
fn definition() -> String {
    let field =
        |at| (format!("field{at}"), json!({"type": "string", "description": "x".repeat(200)}));
    let fields: serde_json::Map<_, _> = (0..2_000).map(field).collect();
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names = json!({"plural": "things", "kind": "Thing"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    })
    .to_string()
}

async fn client(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

async fn send(client: &Client, method: &str, path: &str, media: &str, body: &str) {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("content-type", format!("application/{media}"));
    let request = request.body(body.as_bytes().to_vec()).unwrap();
    client.request_text(request).await.unwrap();
}

/// Reads a body that may be no text.
async fn get(client: &Client, path: &str, accept: &str) {
    let request = http::Request::get(path).header("accept", format!("application/{accept}"));
    let request = request.body(kube::client::Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    http_body_util::BodyExt::collect(response.into_body()).await.unwrap();
}
