//! Token and access reviews are answered and refused as by the real API server, from which the expected
//! answers were recorded. Only the reason of an access review is different.

use http::{Method, Request, header};
use http_body_util::BodyExt;
use operetta_apiserver::{Running, Server};
use serde_json::{Value, json};

const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

async fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let request = request.body(bytes::Bytes::from(body.to_owned())).unwrap();
    let response = server.handle(request).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

async fn ask(server: &Server, path: &str, spec: Value) -> (u16, Value) {
    send(server, Method::POST, path, &json!({"spec": spec}).to_string()).await
}

/// Its refusal: the code and the message.
async fn refusal(server: &Server, path: &str, body: &str) -> (u16, String) {
    let (code, status) = send(server, Method::POST, path, body).await;
    assert_eq!(status["kind"], "Status", "{body}: {status}");
    (code, status["message"].as_str().unwrap().to_owned())
}

fn served(server: &Server) -> (Running, String) {
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let kubeconfig: Value = serde_yaml_ng::from_str(running.kubeconfig()).unwrap();
    let token = kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned();
    (running, token)
}

#[operetta_harness::test]
async fn the_audience_of_a_token_is_the_api_server_unless_another_is_named() {
    let server = Server::start();
    let (_running, token) = served(&server);
    let api = "https://kubernetes.default.svc";
    let good = json!({
        "authenticated": true, "audiences": [api],
        "user": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
    });
    let bad = json!({"user": {}, "error": "invalid bearer token"});
    for (spec, expected) in [
        (json!({"token": token}), &good),
        (json!({"token": token, "audiences": []}), &good),
        (json!({"token": token, "audiences": ["other", api]}), &good),
        (json!({"token": token, "audiences": ["other"]}), &bad),
        (json!({"token": "guessed"}), &bad),
    ] {
        let (code, review) = ask(&server, TOKENS, spec.clone()).await;
        assert_eq!((code, &review["status"]), (201, expected), "{spec}");
        assert_eq!((&review["spec"], &review["metadata"]), (&spec, &json!({})));
    }
}

#[operetta_harness::test]
async fn unknown_fields_of_a_review_are_dropped_and_invalid_ones_refused() {
    let server = Server::start();
    let (_, review) = ask(&server, TOKENS, json!({"token": "t", "nonsense": 1})).await;
    assert_eq!(review["spec"], json!({"token": "t"}));
    assert_eq!(review["apiVersion"], "authentication.k8s.io/v1");
    for (body, expected) in [
        (json!({"spec": {}}).to_string(), "token is required for TokenReview in authentication"),
        (json!({}).to_string(), "token is required for TokenReview in authentication"),
        (
            json!({"spec": {"token": 5}}).to_string(),
            "TokenReview in version \"v1\" cannot be handled as a TokenReview: json: cannot unmarshal number \
             into Go struct field TokenReviewSpec.spec.token of type string",
        ),
        (
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "Wrong"}).to_string(),
            "Wrong in version \"v1\" cannot be handled as a TokenReview: no kind \"Wrong\" is registered for \
             version \"authentication.k8s.io/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        (
            json!({"apiVersion": "authentication.k8s.io/v1beta9", "kind": "TokenReview"})
                .to_string(),
            "TokenReview in version \"v1beta9\" cannot be handled as a TokenReview: no kind \"TokenReview\" \
             is registered for version \"authentication.k8s.io/v1beta9\" in scheme \
             \"pkg/runtime/scheme.go:111\"",
        ),
    ] {
        assert_eq!(refusal(&server, TOKENS, &body).await, (400, expected.to_owned()), "{body}");
    }
    for broken in ["nonsense", "", "[]"] {
        let (code, message) = refusal(&server, TOKENS, broken).await;
        let expected = "the object provided is unrecognized (must be of type TokenReview)";
        assert!(code == 400 && message.starts_with(expected), "{broken}: {message}");
    }
}

#[operetta_harness::test]
async fn an_access_review_needs_a_user_and_one_kind_of_attributes() {
    let server = Server::start();
    let path = json!({"path": "/x", "verb": "get"});
    let pods = json!({"verb": "get", "resource": "pods"});
    let neither = "spec.resourceAttributes: Invalid value: null: exactly one of \
                   nonResourceAttributes or resourceAttributes must be specified";
    let both = "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be \
                specified in combination with resourceAttributes";
    let nobody = "spec.user: Invalid value: \"\": at least one of user or group must be specified";
    let all = format!("[{neither}, {nobody}]");
    for (url, spec, expected) in [
        (ACCESS, json!({"user": "nobody"}), neither),
        (ACCESS, json!({"nonResourceAttributes": path}), nobody),
        (ACCESS, json!({}), &all),
        (
            ACCESS,
            json!({"user": "a", "nonResourceAttributes": path, "resourceAttributes": pods}),
            both,
        ),
        (OWN_ACCESS, json!({}), neither),
        (OWN_ACCESS, json!({"nonResourceAttributes": path, "resourceAttributes": pods}), both),
    ] {
        let (code, message) = refusal(&server, url, &json!({"spec": spec}).to_string()).await;
        let expected = format!(".authorization.k8s.io \"\" is invalid: {expected}");
        assert_eq!((code, message), (422, expected), "{spec}");
    }
    let named =
        json!({"metadata": {"name": "x"}, "spec": {"user": "a", "nonResourceAttributes": path}});
    let (code, message) = refusal(&server, ACCESS, &named.to_string()).await;
    assert!(code == 422 && message.ends_with(": must be empty"), "{message}");
    for (spec, allowed) in [
        (json!({"user": "admin", "nonResourceAttributes": path}), true),
        (json!({"user": "a", "groups": ["system:masters"], "resourceAttributes": pods}), true),
        (json!({"user": "a", "groups": ["g"], "resourceAttributes": pods}), false),
    ] {
        let body = json!({"metadata": {"namespace": "x"}, "spec": spec});
        let (code, review) = send(&server, Method::POST, ACCESS, &body.to_string()).await;
        assert_eq!((code, &review["status"]["allowed"]), (201, &json!(allowed)), "{spec}");
        assert_eq!((&review["spec"], &review["metadata"]), (&spec, &json!({})));
    }
    let (_, review) = ask(&server, OWN_ACCESS, json!({"resourceAttributes": pods})).await;
    assert_eq!(review["status"]["allowed"], true);
}

#[operetta_harness::test]
async fn a_review_can_only_be_created() {
    let server = Server::start();
    for path in [TOKENS, ACCESS, OWN_ACCESS] {
        for method in [Method::GET, Method::DELETE] {
            assert_eq!(send(&server, method.clone(), path, "").await.0, 405, "{method} {path}");
            let (code, status) = send(&server, method, &format!("{path}/x"), "").await;
            let message = "the server could not find the requested resource";
            assert_eq!((code, &status["message"]), (404, &json!(message)), "{path}/x");
        }
    }
}
