//! The columns of tables of built-in types: names, types and descriptions are those of the real server.
//!
//! `UPDATE_EXPECT=1` records the descriptions anew, in a file that the server reads. Without the programs of the real
//! control plane the test is ignored.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use http::{Request, header};
use kube::{Client, client::Body};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use crate::common::control_plane;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/columns.json");
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The column definitions by group and resource.
type Columns = BTreeMap<String, Vec<Value>>;

#[operetta_harness::test]
async fn columns_are_named_and_described_as_by_the_real_server() {
    let real = columns(&control_plane::shared().await.client().unwrap()).await;
    let embedded = columns(&Server::start().client()).await;
    // Other tests define types of their own on the real one.
    let real: Columns =
        real.into_iter().filter(|(resource, _)| embedded.contains_key(resource)).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(DATA, recorded(&real)).unwrap();
        return;
    }
    for (resource, columns) in &embedded {
        assert_eq!(Some(columns), real.get(resource), "{resource}");
    }
}

async fn columns(client: &Client) -> Columns {
    let mut columns = Columns::new();
    let groups = get(client, "/apis").await;
    let groups = groups["groups"].as_array().unwrap().iter().flat_map(|group| {
        let versions = group["versions"].as_array().unwrap().iter();
        versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap()))
    });
    for path in ["/api/v1".to_owned()].into_iter().chain(groups) {
        let group = if path == "/api/v1" { "" } else { path.split('/').nth(2).unwrap() };
        let resources = get(client, &path).await["resources"].take();
        for resource in resources.as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            if !name.contains('/') && resource["verbs"].as_array().unwrap().contains(&json!("list"))
            {
                let table = get(client, &format!("{path}/{name}?limit=1")).await;
                // A type of another test may be gone by now.
                if let Some(definitions) = table["columnDefinitions"].as_array() {
                    columns.insert(format!("{group}/{name}"), definitions.clone());
                }
            }
        }
    }
    columns.insert("autoscaling/scales".to_owned(), of_scale(client).await);
    columns
}

async fn of_scale(client: &Client) -> Vec<Value> {
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let controller = json!({
        "metadata": {"name": "columns"},
        "spec": {
            "replicas": 0,
            "selector": {"a": "b"},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    let request = request.body(controller.to_string().into_bytes()).unwrap();
    let _: Value = client.request(request).await.unwrap();
    let table = get(client, &format!("{path}/columns/scale")).await;
    let request = Request::delete(format!("{path}/columns")).body(Vec::new()).unwrap();
    let _: Value = client.request(request).await.unwrap();
    table["columnDefinitions"].as_array().unwrap().clone()
}

async fn get(client: &Client, path: &str) -> Value {
    let accept = if path.starts_with("/apis/") && path.matches('/').count() == 3
        || path == "/apis"
        || path == "/api/v1"
    {
        "application/json"
    } else {
        TABLE
    };
    let request = Request::get(path).header(header::ACCEPT, accept).body(Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

/// The descriptions, each text once.
fn recorded(columns: &Columns) -> String {
    let text = |column: &Value| column["description"].as_str().unwrap().to_owned();
    let texts: BTreeSet<String> = columns.values().flatten().map(text).collect();
    let texts: Vec<String> = texts.into_iter().collect();
    let at = |column: &Value| texts.binary_search(&text(column)).unwrap();
    let lines = columns.iter().map(|(resource, columns)| {
        let positions: Vec<usize> = columns.iter().map(at).collect();
        format!("{}:{}", json!(resource), json!(positions))
    });
    let lines: Vec<String> = lines.collect();
    let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
    format!("{{\"texts\":[\n{}\n],\"columns\":{{\n{}\n}}}}\n", texts.join(",\n"), lines.join(",\n"))
}
