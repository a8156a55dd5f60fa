//! Reviews over HTTP, without a port.

use actix_web::{
    http::header,
    test::{TestRequest, call_service, init_service, read_body},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::*;
use crate::{
    admission::Registered,
    board::{ActivityFilter, Board, OperatorInfo},
    metrics::Metrics,
    object::{K8sType, ObjectKey},
    operator::{
        OperatorConfig,
        admission::{Admission, AdmissionRequest, Webhook},
    },
    web::webhooks::{Records, calls::Calls},
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

fn records() -> Records {
    Records { board: Board::new(), metrics: Metrics::new() }
}

async fn answered(path: &str, body: &str, media_type: &str) -> (u16, String) {
    recorded(&records(), path, body, media_type).await
}

async fn recorded(records: &Records, path: &str, body: &str, media_type: &str) -> (u16, String) {
    let (registered, calls) = (registered(), Calls::on(Handle::current()));
    records.served(&registered);
    let service = init_service(app(Served { registered, calls, records: records.clone() })).await;
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

/// The lines of `/metrics` about webhooks that are not zero, apart from times.
fn counted(records: &Records) -> Vec<String> {
    let all = records.metrics.render();
    let is_shown = |line: &&str| {
        line.starts_with("operetta_webhook_")
            && !line.ends_with(" 0")
            && !line.contains("_duration_")
    };
    all.lines().filter(is_shown).map(str::to_owned).collect()
}

#[actix_web::test]
async fn each_call_is_counted_by_its_outcome() {
    let records = records();
    for salt in ["little", "much", "panic", "fail"] {
        recorded(&records, SALT, &question(salt).to_string(), "application/json").await;
    }
    let pepper = "/webhooks/pepper.configmaps.core";
    recorded(&records, pepper, &question("little").to_string(), "application/json").await;
    recorded(&records, pepper, "{}", "application/json").await;
    let expected = [
        r#"operetta_webhook_denied_total{reason="Invalid",webhook="salt.configmaps.core"} 1"#,
        r#"operetta_webhook_requests_total{operation="CREATE",outcome="allowed",webhook="salt.configmaps.core"} 1"#,
        r#"operetta_webhook_requests_total{operation="CREATE",outcome="changed",webhook="pepper.configmaps.core"} 1"#,
        r#"operetta_webhook_requests_total{operation="CREATE",outcome="denied",webhook="salt.configmaps.core"} 1"#,
        r#"operetta_webhook_requests_total{operation="CREATE",outcome="failed",webhook="salt.configmaps.core"} 2"#,
        r#"operetta_webhook_requests_total{operation="unknown",outcome="unreadable",webhook="pepper.configmaps.core"} 1"#,
    ];
    let mut counted = counted(&records);
    counted.sort_unstable();
    assert_eq!(counted, expected);
}

#[actix_web::test]
async fn a_denial_is_in_the_timeline_with_who_what_and_why_unless_it_is_a_dry_run() {
    let records = records();
    let config = OperatorConfig::new("cook", K8sType::namespaced("v1", "ConfigMap", "configmaps"));
    let name = config.operator_name().unwrap();
    records.board.register(OperatorInfo { name, config, has_finalizer: false });
    let mut asked = question("much");
    asked["request"]["userInfo"] = json!({"username": "ada"});
    let mut trial = asked.clone();
    trial["request"]["dryRun"] = json!(true);
    for review in [&trial, &asked, &asked] {
        recorded(&records, SALT, &review.to_string(), "application/json").await;
    }
    let filter = ActivityFilter {
        operator: Some("cook".to_owned()),
        namespace: Some("ns".to_owned()),
        ..ActivityFilter::default()
    };
    let page = records.board.activity(&filter, None, 10);
    let [line] = page.lines.as_slice() else { panic!("{:?}", page.lines) };
    assert_eq!((line.times, line.who.as_deref()), (2, Some("ada")));
    let why = "salt.configmaps.core does not let them create this ConfigMap: data.salt: too much";
    assert_eq!(line.details.kept, [why]);
    assert_eq!(line.parents.kept, [ObjectKey::namespaced("ns", "a")]);
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
