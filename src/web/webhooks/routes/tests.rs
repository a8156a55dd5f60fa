//! Reviews over HTTP, without a port.

use actix_web::{
    http::header,
    test::{TestRequest, call_service, init_service, read_body},
};
use serde_json::json;

use super::*;
use crate::{
    object::K8sType,
    operator::admission::{Admission, AdmissionRequest},
};

fn registered() -> Registered {
    let ty = || K8sType::namespaced("v1", "ConfigMap", "configmaps");
    let validate = Webhook::validate_type("salt", ty(), |request: &AdmissionRequest| match request
        .subject()["data"]["salt"]
        .as_str()
    {
        Some("much") => Ok(Admission::invalid("data.salt", "too much")),
        Some("panic") => panic!("secret text"),
        Some("fail") => Err(anyhow::anyhow!("secret text")),
        _ => Ok(Admission::allow()),
    });
    let mutate =
        Webhook::mutate_type("pepper", ty(), |_: &AdmissionRequest, object: &mut Value| {
            object["data"]["pepper"] = json!("little");
            Ok(Admission::allow())
        });
    Registered::new(vec![validate, mutate], Vec::new()).unwrap()
}

fn question(salt: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE", "namespace": "ns", "name": "a",
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "object": {"data": {"salt": salt}},
        },
    })
}

async fn answered(path: &str, body: &str, media_type: &str) -> (u16, String) {
    let runtime = tokio::runtime::Handle::current();
    let served = Served { registered: registered(), calls: Calls::on(runtime) };
    let service = init_service(app(served)).await;
    let request = TestRequest::post().uri(path).insert_header((header::CONTENT_TYPE, media_type));
    let response = call_service(&service, request.set_payload(body.to_owned()).to_request()).await;
    let code = response.status().as_u16();
    (code, String::from_utf8(read_body(response).await.to_vec()).unwrap())
}

async fn asked(path: &str, review: &Value) -> (u16, String) {
    answered(path, &review.to_string(), "application/json").await
}

const SALT: &str = "/webhooks/salt.configmaps.core?timeout=10s";

#[actix_web::test]
async fn a_review_is_answered_with_one() {
    for (salt, is_allowed) in [("little", true), ("much", false)] {
        let (code, body) = asked(SALT, &question(salt)).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((code, &body["response"]["allowed"]), (200, &json!(is_allowed)));
        assert_eq!(body["response"]["uid"], "u");
    }
    let (_, body) = asked("/webhooks/pepper.configmaps.core", &question("little")).await;
    assert!(body.contains("\"patchType\":\"JSONPatch\""), "{body}");
}

#[actix_web::test]
async fn a_handler_that_fails_is_an_id_and_none_of_its_text() {
    for (salt, text) in [("panic", "the handler panicked"), ("fail", "the handler failed")] {
        let (code, body) = asked(SALT, &question(salt)).await;
        assert_eq!(code, 500);
        assert!(body.starts_with(text) && !body.contains("secret"), "{body}");
    }
}

#[actix_web::test]
async fn what_is_no_review_of_this_webhook_is_refused_with_a_sentence() {
    let mut other = question("a");
    other["request"]["resource"]["resource"] = json!("secrets");
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_BODY));
    let text = question("a").to_string();
    for (path, body, media_type, code, expected) in [
        (SALT, "{}", "application/json", 400, "send a AdmissionReview of admission.k8s.io/v1"),
        (SALT, &*other.to_string(), "application/json", 400, "is not for secrets."),
        (SALT, &*large, "application/json", 413, "the review is larger than 8388608 bytes"),
        (SALT, &*text, "text/plain", 415, "send a review as application/json"),
        (
            "/webhooks/other",
            &*text,
            "application/json",
            404,
            "/webhooks/other is no webhook of this process",
        ),
        ("/", &*text, "application/json", 404, "/ is no webhook of this process"),
    ] {
        let (found, body) = answered(path, body, media_type).await;
        assert!(found == code && body.contains(expected), "{path}: {found} {body}");
    }
}

#[test]
fn a_handler_has_less_time_than_the_api_server_waits() {
    let configured = Duration::from_secs(10);
    for (text, expected) in
        [("10s", 9000), ("5s", 4500), ("1m0s", 9000), ("500ms", 450), ("odd", 9000), ("-1s", 9000)]
    {
        assert_eq!(within(seconds(text), configured).as_millis(), expected, "{text}");
    }
}
