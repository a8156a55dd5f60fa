//! The classes of answers, and what is parsed from them.

use serde_json::json;

use super::*;

fn class(code: u16, body: &str) -> ErrorClass {
    Refusal::read(code, None, body.as_bytes()).class()
}

#[test]
fn answers_have_a_class() {
    let typed = r#"{"message":"failed to create typed patch object (ns/a): .spec.x: no"}"#;
    let large = r#"{"message":"etcdserver: request is too large"}"#;
    let namesake = r#"{"details":{"causes":[{"field":"metadata.uid"}]}}"#;
    let gone = r#"{"reason":"NotFound","details":{"name":"a","kind":"pods"}}"#;
    let busy = r#"{"details":{"retryAfterSeconds":3}}"#;
    for (code, body, expected) in [
        (409, "{}", ErrorClass::Conflict),
        (404, gone, ErrorClass::Missing),
        (404, "404 page not found", ErrorClass::NotServed),
        (404, r#"{"reason":"NotFound","details":{}}"#, ErrorClass::NotServed),
        (403, "{}", ErrorClass::Forbidden),
        (400, "{}", ErrorClass::Permanent),
        (405, "{}", ErrorClass::Permanent),
        (406, "{}", ErrorClass::Permanent),
        (413, "{}", ErrorClass::Permanent),
        (415, "{}", ErrorClass::Permanent),
        (422, "{}", ErrorClass::Permanent),
        (401, "{}", ErrorClass::Retry),
        (410, "{}", ErrorClass::Retry),
        (429, "{}", ErrorClass::Retry),
        (422, namesake, ErrorClass::Conflict),
        (500, "{}", ErrorClass::Retry),
        (500, typed, ErrorClass::Permanent),
        (500, large, ErrorClass::Permanent),
        (429, busy, ErrorClass::Wait(Duration::from_secs(3))),
        (500, busy, ErrorClass::Wait(Duration::from_secs(3))),
        (409, busy, ErrorClass::Conflict),
        (503, "", ErrorClass::Retry),
    ] {
        assert_eq!(class(code, body), expected, "{code} {body}");
    }
}

#[test]
fn a_missing_reason_leaves_no_gap() {
    let shown = |code, body: &str| Refusal::read(code, None, body.as_bytes()).to_string();
    assert_eq!(shown(404, "404 page not found"), "404: 404 page not found");
    let status = r#"{"reason":"NotFound","message":"no such pod"}"#;
    assert_eq!(shown(404, status), "404 NotFound: no such pod");
}

/// The answer of the validation of a type.
fn invalid(group: &str, kind: &str, causes: &[(&str, &str)]) -> Refusal {
    let dot = if group.is_empty() { "" } else { "." };
    answer(422, group, kind, &format!("{kind}{dot}{group} \"a\" is invalid: ..."), causes)
}

fn answer(code: u16, group: &str, kind: &str, message: &str, causes: &[(&str, &str)]) -> Refusal {
    let causes: Vec<_> =
        causes.iter().map(|(field, why)| json!({"field": field, "message": why})).collect();
    let details = json!({"name": "a", "group": group, "kind": kind, "causes": causes});
    let body = json!({"reason": "Invalid", "message": message, "details": details}).to_string();
    Refusal::read(code, None, body.as_bytes())
}

#[test]
fn only_a_refusal_for_known_immutable_fields_alone_allows_a_recreation() {
    let selector = ("spec.selector", "Invalid value: {...}: field is immutable");
    let template = ("spec.template", "Invalid value: {...}: field is immutable");
    let set = ("spec", "Forbidden: updates to statefulset spec for fields other than 'replicas'");
    let address = ("spec.clusterIPs[0]", "Invalid value: [\"10.0.0.9\"]: may not change once set");
    let pod = ("spec", "Forbidden: pod updates may not change fields other than `spec.x`");
    let role = ("roleRef", "Invalid value: {...}: cannot change roleRef");
    let kind = |text| vec![("type", text)];
    let rbac = "rbac.authorization.k8s.io";
    for (group, ty, causes, expected) in [
        ("apps", "Deployment", vec![selector], true),
        ("apps", "StatefulSet", vec![set], true),
        // Since 1.37 it names the fields, and has other words for a node.
        ("apps", "StatefulSet", vec![selector], true),
        (
            "",
            "Node",
            vec![("spec.providerID", "Invalid value: field cannot be modified once set")],
            true,
        ),
        ("batch", "Job", vec![selector, template], true),
        ("", "Service", vec![address], true),
        ("", "Pod", vec![pod], true),
        (rbac, "RoleBinding", vec![role], true),
        ("", "Secret", kind("Invalid value: \"a\": field is immutable"), true),
        // Another field of the type may be wrong for now.
        ("apps", "Deployment", vec![template], false),
        ("apps", "Deployment", vec![("spec.replicas", "Forbidden: cannot change")], false),
        ("apps", "Deployment", vec![selector, ("spec.x", "Required value")], false),
        ("example.dev", "Deployment", vec![selector], false),
        // Quoted values are ignored.
        ("", "Secret", kind("Unsupported value: \"immutable\": supported values: \"a\""), false),
        ("", "Secret", kind("Invalid value: \"an \\\"immutable\": must be lower case"), false),
        ("", "Secret", kind("Invalid value: {\"a\":\"cannot change\"}: must be empty"), false),
        ("", "Secret", vec![], false),
    ] {
        assert_eq!(invalid(group, ty, &causes).is_immutable(), expected, "{ty} {causes:?}");
    }
}

/// As admission policies and webhooks on a kube-apiserver answer.
#[test]
fn the_text_of_an_admission_decides_on_no_deletion() {
    let selector = [("spec.selector", "Invalid value: {...}: field is immutable")];
    let allocated =
        [("spec.ports[0].nodePort", "Invalid value: 1: provided port is already allocated")];
    for by in [
        "deployments.apps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: \
         Deployment.apps \"a\" is invalid: field is immutable",
        "admission webhook \"w.example.dev\" denied the request: field is immutable, exceeded quota",
        "Deployment.apps \"b\" is invalid: field is immutable",
    ] {
        for kind in ["Deployment", "deployments"] {
            let refusal = |code, causes| answer(code, "apps", kind, by, causes);
            assert!(!refusal(422, &selector).is_immutable(), "{by}");
            assert!(!refusal(422, &allocated).is_for_room(), "{by}");
            assert!(!refusal(403, &[]).is_for_room(), "{by}");
            assert!(!refusal(422, &[("metadata.name", "no")]).is_about_the_name(), "{by}");
        }
    }
    let quota = "pods \"a\" is forbidden: exceeded quota: q, requested: pods=1";
    assert!(answer(403, "", "pods", quota, &[]).is_for_room());
    assert!(invalid("", "Service", &allocated).is_for_room());
    assert!(invalid("", "Service", &[("metadata.name", "no")]).is_about_the_name());
}

#[test]
fn the_code_of_a_webhook_says_nothing_about_the_object() {
    for code in [404, 409, 410] {
        let text = "admission webhook \"w.example.dev\" denied the request: later";
        assert_eq!(answer(code, "", "pods", text, &[]).class(), ErrorClass::Retry, "{code}");
    }
}

#[test]
fn a_body_that_is_no_status_is_the_message() {
    let refusal = Refusal::read(502, None, b"<html>bad gateway</html>");
    assert_eq!(refusal.message, "<html>bad gateway</html>");
}
