//! Requests that the real server refuses or answers in its own words, beside those about single fields.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt;
use operetta_apiserver::Server;
use serde_json::Value;

use crate::common::{config_map, config_maps, create, server};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// The code, the warnings and the body of an answer.
async fn ask(
    server: &Server,
    method: &str,
    target: &str,
    media: &str,
    body: &str,
) -> (u16, Vec<String>, Value) {
    let method: Method = method.parse().expect("a method");
    let request = Request::builder().method(method).uri(target).header("content-type", media);
    let request = request.body(Bytes::copy_from_slice(body.as_bytes())).expect("a request");
    let response = server.handle(request).await;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|text| text.to_str().expect("text").to_owned()).collect();
    let body = response.into_body().collect().await.expect("it cannot fail").to_bytes();
    (code, warnings, serde_json::from_slice(&body).unwrap_or_default())
}

/// A server with the config map `a`.
async fn server_with_a() -> Server {
    let (server, client) = server();
    create(&config_maps(&client), config_map("a", "1")).await;
    server
}

#[operetta_harness::test]
async fn duplicate_members_are_refused_strictly_and_warned_about_otherwise() {
    let server = server_with_a().await;
    let twice = r#"{"metadata":{"name":"b"},"data":{"x":"1","x":"2"},"nope":1,"nope":2}"#;
    let yaml = "metadata:\n  name: c\ndata:\n  x: \"1\"\n  x: \"2\"\n";
    let kind = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap";
    let cases = [
        ("POST", "", JSON, twice, 400, format!("{kind}: strict decoding error: duplicate field \"data.x\", unknown field \"nope\"")),
        ("POST", "", YAML, yaml, 400, format!("{kind}: strict decoding error: yaml: unmarshal errors:\n  line 5: key \"x\" already set in map")),
        (
            "PATCH",
            "/a",
            APPLY,
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\n",
            400,
            "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  \
             line 5: key \"name\" already set in map"
                .to_owned(),
        ),
    ];
    for (method, path, media, body, code, message) in cases {
        let target = format!("{CONFIG_MAPS}{path}?fieldValidation=Strict&fieldManager=test");
        let (found, _, status) = ask(&server, method, &target, media, body).await;
        assert_eq!((found, status["message"].as_str()), (code, Some(&*message)));
    }
    let (code, warnings, _) = ask(&server, "POST", CONFIG_MAPS, JSON, twice).await;
    let expected = [r#"299 - "duplicate field \"data.x\"""#, r#"299 - "unknown field \"nope\"""#];
    assert_eq!((code, warnings), (201, expected.map(str::to_owned).to_vec()));
    let body = r#"{"data":{"x":"1","x":"2"},"data":{"y":"1"}}"#;
    let (code, warnings, _) = ask(&server, "PATCH", &format!("{CONFIG_MAPS}/a"), MERGE, body).await;
    let expected = [r#"299 - "duplicate field \"data.x\"""#, r#"299 - "duplicate field \"data\"""#];
    assert_eq!((code, warnings), (200, expected.map(str::to_owned).to_vec()));
    let body = r#"[{"op":"add","path":"/data/q","value":"1","extra":1,"op":"add"}]"#;
    let (code, warnings, _) =
        ask(&server, "PATCH", &format!("{CONFIG_MAPS}/a"), JSON_PATCH, body).await;
    let expected = [
        r#"299 - "json patch unknown field \"[0].extra\"""#,
        r#"299 - "json patch duplicate field \"[0].op\"""#,
    ];
    assert_eq!((code, warnings), (200, expected.map(str::to_owned).to_vec()));
}

#[operetta_harness::test]
async fn a_patch_cannot_change_the_type() {
    let server = server_with_a().await;
    let scheme = "in scheme \"pkg/runtime/scheme.go:111\"";
    for (patch, end) in [
        (
            r#"{"kind":"Pod"}"#,
            "converting (v1.Pod) to (core.ConfigMap): unknown conversion".to_owned(),
        ),
        (
            r#"{"kind":"Nope"}"#,
            format!("no kind \"Nope\" is registered for version \"v1\" {scheme}"),
        ),
        (
            r#"{"apiVersion":"v2"}"#,
            format!("no kind \"ConfigMap\" is registered for version \"v2\" {scheme}"),
        ),
    ] {
        let (code, _, status) =
            ask(&server, "PATCH", &format!("{CONFIG_MAPS}/a"), MERGE, patch).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.ends_with(&end), "{code} {message}");
    }
    let (code, _, _) =
        ask(&server, "PATCH", &format!("{CONFIG_MAPS}/a"), MERGE, r#"{"kind":null}"#).await;
    assert_eq!(code, 200);
}

#[operetta_harness::test]
async fn options_are_refused_with_the_kind_of_the_request() {
    let server = server_with_a().await;
    let long = "x".repeat(129);
    let cases = [
        (
            "PATCH",
            "/a?force=false".to_owned(),
            "PatchOptions",
            "force: Forbidden: may not be specified for non-apply patch",
        ),
        (
            "POST",
            "?fieldManager=a%01b".to_owned(),
            "CreateOptions",
            "fieldManager: Invalid value: \"a\\x01b\": invalid character U+0001 (at position 1)",
        ),
        (
            "PUT",
            format!("/a?fieldManager={long}"),
            "UpdateOptions",
            "fieldManager: Too long: may not be more than 128 bytes",
        ),
        (
            "POST",
            "?dryRun=All&dryRun=x".to_owned(),
            "CreateOptions",
            "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\"",
        ),
        (
            "DELETE",
            "/a?dryRun=x".to_owned(),
            "DeleteOptions",
            "dryRun: Unsupported value: [\"x\"]: supported values: \"All\"",
        ),
        (
            "PUT",
            "/a?dryRun=x&fieldValidation=no".to_owned(),
            "UpdateOptions",
            "[dryRun: Unsupported value: [\"x\"]: supported values: \"All\", fieldValidation: Unsupported value: \"no\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]",
        ),
    ];
    for (method, rest, kind, why) in cases {
        let media = if method == "PATCH" { MERGE } else { JSON };
        let body = if method == "DELETE" { "" } else { r#"{"metadata":{"name":"a"}}"# };
        let (code, _, status) =
            ask(&server, method, &format!("{CONFIG_MAPS}{rest}"), media, body).await;
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {why}");
        assert_eq!((code, status["message"].as_str()), (422, Some(&*message)));
    }
    for query in ["limit=abc", "watch=1&timeoutSeconds=99999999999999999999"] {
        let (code, ..) = ask(&server, "GET", &format!("{CONFIG_MAPS}?{query}"), "", "").await;
        assert_eq!(code, 400, "{query}");
    }
}

#[operetta_harness::test]
async fn paths_are_what_they_are_for_the_real_server() {
    let server = server_with_a().await;
    let cases = [
        ("/api/v1/namespaces/default/configmaps/..%2fa", 404),
        ("/api/v1/namespaces/default/configmaps/%2e%2e", 400),
        ("/api/v1/namespaces/default/configmaps/.", 400),
        ("/api/v1/namespaces/default/configmaps/%2525", 400),
        ("/api/v1//namespaces/default/configmaps", 404),
        ("//api/v1/namespaces", 404),
        ("/api/v1/namespaces//configmaps", 200),
        ("/api/v1/namespaces/default/configmaps/a/", 200),
        ("/api%2fv1", 200),
        ("/apis/", 200),
        ("/api/v1/namespaces/default/configmaps/a/b/c", 404),
    ];
    for (path, expected) in cases {
        let (code, ..) = ask(&server, "GET", path, "", "").await;
        assert_eq!(code, expected, "{path}");
    }
    let target = format!("{CONFIG_MAPS}/%2e%2e");
    let (_, _, status) = ask(&server, "GET", &target, "", "").await;
    assert_eq!(status["message"], r#"Name parameter invalid: "..": may not be '..'"#);
}

#[operetta_harness::test]
async fn finalizers_of_built_in_types_have_a_domain_and_events_the_namespace_of_their_object() {
    let server = server_with_a().await;
    let cases = [
        (
            "configmaps",
            r#"{"metadata":{"name":"b","finalizers":["nodomain"]}}"#,
            "ConfigMap \"b\" is invalid: metadata.finalizers[0]: Invalid value: \"nodomain\": \
             name is neither a standard finalizer name nor is it fully qualified",
        ),
        (
            "events",
            r#"{"metadata":{"name":"b"},"involvedObject":{"namespace":"kube-system"}}"#,
            "Event \"b\" is invalid: involvedObject.namespace: Invalid value: \"kube-system\": \
             does not match event.namespace",
        ),
    ];
    for (plural, body, message) in cases {
        let target = format!("/api/v1/namespaces/default/{plural}");
        let (code, _, status) = ask(&server, "POST", &target, JSON, body).await;
        assert_eq!((code, status["message"].as_str()), (422, Some(message)));
    }
}

#[operetta_harness::test]
async fn some_types_are_created_by_an_update_and_some_deletes_answer_the_object() {
    let server = server_with_a().await;
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let body = r#"{"metadata":{"name":"l","resourceVersion":"5"},"spec":{}}"#;
    assert_eq!(ask(&server, "PUT", lease, JSON, body).await.0, 201);
    assert_eq!(ask(&server, "DELETE", lease, "", "").await.2["kind"], "Status");
    let account = "/api/v1/namespaces/default/serviceaccounts/s";
    let body = r#"{"metadata":{"name":"s"}}"#;
    assert_eq!(ask(&server, "PUT", account, JSON, body).await.0, 404);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(ask(&server, "POST", accounts, JSON, body).await.0, 201);
    assert_eq!(ask(&server, "DELETE", account, "", "").await.2["kind"], "ServiceAccount");
    let body = r#"{"metadata":{"name":"f","finalizers":["e.com/x"]}}"#;
    assert_eq!(ask(&server, "POST", CONFIG_MAPS, JSON, body).await.0, 201);
    let target = format!("{CONFIG_MAPS}/f?dryRun=All");
    let (_, _, held) = ask(&server, "DELETE", &target, "", "").await;
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    let (_, _, kept) = ask(&server, "GET", &format!("{CONFIG_MAPS}/f"), "", "").await;
    assert!(kept["metadata"]["deletionTimestamp"].is_null());
}
