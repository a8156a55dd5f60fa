//! The classes of answers, and what is parsed from them.

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

#[test]
fn only_a_refusal_for_immutable_fields_alone_allows_a_recreation() {
    let template = "Invalid value: {...}: field is immutable";
    let address = "Invalid value: [\"10.0.0.9\"]: may not change once set";
    let pod = "Forbidden: pod updates may not change fields other than `spec.x`";
    let set = "Forbidden: updates to statefulset spec for fields other than 'replicas'";
    let role = "Invalid value: {...}: cannot change roleRef";
    for (messages, expected) in [
        (vec![template], true),
        (vec![address], true),
        (vec![pod], true),
        (vec![set, role], true),
        (vec![template, "Required value"], false),
        // Quoted values are ignored.
        (vec!["Unsupported value: \"immutable\": supported values: \"a\""], false),
        (vec!["Invalid value: \"an \\\"immutable\": must be lower case"], false),
        (vec!["Invalid value: {\"a\":\"cannot change\"}: must be empty"], false),
        (vec!["Invalid value: \"a\": Value is immutable"], true),
        (vec![], false),
    ] {
        let causes: Vec<_> =
            messages.iter().map(|m| serde_json::json!({"message": m, "field": "x"})).collect();
        let body = serde_json::json!({"details": {"causes": causes}}).to_string();
        let refusal = Refusal::read(422, None, body.as_bytes());
        assert_eq!(refusal.is_immutable(), expected, "{messages:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_not_quoted() {
    let cause = serde_json::from_str::<u8>("\"hidden\"").unwrap_err();
    let error = ApiError::malformed("list /api".to_owned(), &cause);
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
}

#[test]
fn a_body_that_is_no_status_is_the_message() {
    let refusal = Refusal::read(502, None, b"<html>bad gateway</html>");
    assert_eq!(refusal.message, "<html>bad gateway</html>");
}
