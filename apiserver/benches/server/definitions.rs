//! Many large definitions, and the document that has all of their schemas.

use std::time::Instant;

use kube::Client;
use serde_json::{Value, json};

use super::{many, memory_of};

const DEFINITIONS: usize = 128;

/// Definitions applied per second, MB in memory with them, and how many milliseconds a document of all of them takes.
pub(super) async fn measure(config: kube::Config, processes: Vec<u32>) -> (f64, f64, f64) {
    let client = Client::try_from(config).unwrap();
    let texts: Vec<_> = (0..DEFINITIONS).map(definition).collect();
    let before = memory_of(&processes).resident;
    let begun = Instant::now();
    for (name, text) in texts {
        let path = format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=bench"
        );
        let request =
            http::Request::patch(path).header("content-type", "application/apply-patch+yaml");
        client.request_text(request.body(text.into_bytes()).unwrap()).await.unwrap();
    }
    let rate = DEFINITIONS as f64 / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    many::length_of(&client, "/openapi/v2").await;
    let time = begun.elapsed().as_secs_f64() * 1000.0;
    let memory = memory_of(&processes).resident.saturating_sub(before) as f64 / 1000.0;
    (rate, memory, time)
}

/// A definition of 20 to 500 KB, as operators have them: deep, and mostly descriptions.
fn definition(number: usize) -> (String, String) {
    let name = format!("things{number}.bench.example.com");
    let fields = 1 + number * 25 / DEFINITIONS;
    let text = json!({"type": "string", "description": "what it is for, and why. ".repeat(6)});
    let many = |number: usize, of: Value| {
        (0..number).map(|at| (format!("field{at}"), of.clone())).collect::<Value>()
    };
    let part = json!({"type": "object", "properties": many(80, text)});
    let parts = many(fields, json!({"type": "array", "items": part}));
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": parts}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let kind = format!("Thing{number}");
    let names = json!({"plural": format!("things{number}"), "kind": kind});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"group": "bench.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    });
    (name, definition.to_string())
}
