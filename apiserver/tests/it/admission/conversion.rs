//! Conversion webhooks of custom resource definitions.

use serde_json::{Value, json};

use super::pair::{Stage, Step, play};

const JSON: &str = "application/json";

/// Version 1 has a host and a port, version 2 an address with both, and the timeout that was seen.
fn convert(path: &str, review: &Value) -> Option<(u16, &'static str, String)> {
    let request = &review["request"];
    let to = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let mut result = json!({"status": "Success"});
    let mut converted = Vec::new();
    for object in request["objects"].as_array().into_iter().flatten() {
        let mut next = object.clone();
        next["apiVersion"] = json!(to);
        let spec = &object["spec"];
        let mode = object["metadata"]["labels"]["mode"].as_str().unwrap_or_default();
        if to.ends_with("v2") && spec["host"].is_string() {
            let address = format!("{}:{}", spec["host"].as_str().unwrap(), spec["port"]);
            next["spec"] = json!({"address": address, "seen": spec["timeout"]});
        }
        if to.ends_with("v1")
            && let Some((host, port)) = spec["address"].as_str().and_then(|it| it.split_once(':'))
        {
            let port = port.parse::<i64>().unwrap_or_default();
            next["spec"] = json!({"host": host, "port": port});
        }
        match mode {
            "message" => result = json!({"status": "Failure", "message": "I will not"}),
            "silent" => result = json!({"status": "Failure"}),
            "name" => next["metadata"]["name"] = json!("other"),
            "kind" => next["kind"] = json!("Other"),
            "version" => next["apiVersion"] = json!("scene.example.com/v3"),
            "labels" => next["metadata"]["labels"] = json!({"mode": "labels", "converted": "yes"}),
            "metadata" => {
                next["metadata"]["finalizers"] = json!(["example.com/x"]);
                next["metadata"]["annotations"] = json!({"a": "b"});
            }
            "undeclared" => next["spec"]["other"] = json!("x"),
            "none" => continue,
            "500" => return Some((500, "text/plain", "boom".to_owned())),
            _ => {}
        }
        converted.push(next);
    }
    let answer = json!({
        "apiVersion": review["apiVersion"], "kind": "ConversionReview",
        "response": {"uid": request["uid"], "result": result, "convertedObjects": converted},
    });
    (path == "/convert").then(|| (200, JSON, answer.to_string()))
}

fn definition(stage: &Stage) -> (String, Value) {
    let version = |name: &str, storage: bool, properties: Value| {
        json!({
            "name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": properties},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    };
    let one = json!({
        "host": {"type": "string"}, "port": {"type": "integer", "maximum": 100},
        "timeout": {"type": "integer", "default": 30},
    });
    let two = json!({
        "address": {"type": "string"}, "extra": {"type": "string", "default": "given"},
        "seen": {"type": "integer"},
    });
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "endpoints.scene.example.com"},
        "spec": {
            "group": "scene.example.com", "scope": "Namespaced",
            "names": {"plural": "endpoints", "kind": "Endpoint"},
            "versions": [version("v1", true, one), version("v2", false, two)],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {
                    "url": format!("https://127.0.0.1:{}/convert", stage.hook.port),
                    "caBundle": stage.hook.bundle,
                },
            }},
        },
    });
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(), object)
}

#[operetta_harness::test]
async fn custom_resources_are_converted_when_they_are_written_and_read() {
    play(
        convert,
        |stage| vec![definition(stage)],
        |stage| {
            let path = |version: &str| {
                let namespace = &stage.namespace;
                format!("/apis/scene.example.com/{version}/namespaces/{namespace}/endpoints")
            };
            let object = |version: &str, name: &str, spec: Value| {
                json!({
                    "apiVersion": format!("scene.example.com/{version}"), "kind": "Endpoint",
                    "metadata": {"name": name, "labels": {"mode": name}}, "spec": spec,
                })
            };
            let one = json!({"host": "h", "port": 80});
            let merge = "application/merge-patch+json";
            let mut steps = vec![
                Step("POST", path("v1"), JSON, object("v1", "plain", one.clone())),
                Step("GET", path("v2") + "/plain", JSON, Value::Null),
                Step("GET", path("v1") + "/plain", JSON, Value::Null),
                Step("POST", path("v2"), JSON, object("v2", "two", json!({"address": "x:1"}))),
                Step("GET", path("v1") + "/two", JSON, Value::Null),
                Step("PATCH", path("v2") + "/plain", merge, json!({"spec": {"address": "y:2"}})),
                Step("GET", path("v1") + "/plain", JSON, Value::Null),
                Step("PATCH", path("v2") + "/plain/status", merge, json!({"status": {"a": "b"}})),
                Step(
                    "PATCH",
                    format!("{}/applied?fieldManager=me", path("v2")),
                    "application/apply-patch+yaml",
                    object("v2", "applied", json!({"address": "z:3"})),
                ),
                Step(
                    "PATCH",
                    format!("{}/applied?fieldManager=me", path("v1")),
                    "application/apply-patch+yaml",
                    object("v1", "applied", json!({"host": "w"})),
                ),
                Step("GET", path("v2"), JSON, Value::Null),
                Step("DELETE", path("v2") + "/two", JSON, Value::Null),
            ];
            for mode in [
                "message",
                "silent",
                "name",
                "kind",
                "version",
                "labels",
                "metadata",
                "undeclared",
                "none",
                "500",
            ] {
                steps.push(Step(
                    "POST",
                    path("v2"),
                    JSON,
                    object("v2", mode, json!({"address": "a:1"})),
                ));
            }
            for mode in ["labels", "metadata", "undeclared", "message"] {
                steps.push(Step("POST", path("v1"), JSON, object("v1", mode, one.clone())));
                // The real server reports what cannot be converted as corrupt, with its revision in etcd.
                if mode != "message" {
                    steps.push(Step("GET", format!("{}/{mode}", path("v2")), JSON, Value::Null));
                }
            }
            steps.push(Step("DELETE", path("v1") + "/message", JSON, Value::Null));
            steps.push(Step(
                "GET",
                path("v2") + "?watch=1&timeoutSeconds=1&resourceVersion=0",
                JSON,
                Value::Null,
            ));
            steps
        },
    )
    .await;
}
