//! The answers of the real server to invalid objects and forbidden changes.

use serde_json::Value;

use super::*;
use crate::builtin::{
    decode, default, find, needs_cluster_ip, path, prepare_for_create, prepare_for_update,
    set_cluster_ip,
};

/// Requests and answers recorded from kube-apiserver of the version that the data are of. The
/// differences of Go structs that some messages end with are left out.
const REFUSED: &str = include_str!("../testdata/refused.json");

/// Cases of other modules: names and labels (`schema::metadata`), decoding.
fn is_elsewhere(case: &Value) -> bool {
    let name = case["name"].as_str().unwrap();
    matches!(name, "pod bad label" | "pod name" | "ns name") || case["code"] == 400
}

fn type_of(object: &Value) -> &'static BuiltinType {
    let text = |name: &str| object[name].as_str().unwrap();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    find(group, version, text("kind")).unwrap()
}

/// The complaints of a message, without `Kind "name" is invalid:`.
fn complaints(case: &Value) -> String {
    let message = case["message"].as_str().unwrap_or_default();
    let list = message.split_once(" is invalid: ").map_or("", |(_, list)| list);
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list).to_owned()
}

/// The errors, in the order of the real server.
fn printed(errors: &[FieldError], real: &str) -> String {
    let mut lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.sort_by_key(|line| real.find(line.as_str()).unwrap_or(usize::MAX));
    lines.dedup();
    lines.join(", ")
}

fn compare(case: &Value, errors: &[FieldError], failures: &mut Vec<String>) {
    let real = complaints(case);
    let ours = printed(errors, &real);
    if real != ours {
        failures.push(format!("{}:\n  real {real}\n  ours {ours}", case["name"]));
    }
}

#[test]
fn invalid_objects_are_refused_with_the_message_of_the_real_server() {
    let cases: Value = serde_json::from_str(REFUSED).unwrap();
    let mut failures = Vec::new();
    for case in cases["creates"].as_array().unwrap().iter().filter(|case| !is_elsewhere(case)) {
        let mut object = case["input"].clone();
        let ty = type_of(&object);
        default(ty, &mut object);
        path::set(&mut object, "metadata.uid", "23cdf077-cee5-4648-a4d3-cbaf03fcbdf0");
        path::set(&mut object, "metadata.namespace", "default");
        prepare_for_create(ty, &mut object);
        let errors = validate_create(ty, &object);
        compare(case, &errors, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn undecodable_objects_are_refused_with_the_message_of_the_real_server() {
    let cases: Value = serde_json::from_str(REFUSED).unwrap();
    for case in cases["creates"].as_array().unwrap() {
        let decoded = decode(type_of(&case["input"]), &case["input"]);
        let refused = decoded.err().map(|error| error.to_string());
        let expected = case["message"].as_str().filter(|_| case["code"] == 400);
        assert_eq!(refused.as_deref(), expected, "{}", case["name"]);
    }
}

/// `tests/it/validation` compares them.
fn leave_out_structs(error: &mut FieldError) {
    if error.path == "spec.template" {
        error.value = Some("{}".to_owned());
    }
    if let Some((detail, _difference)) = error.detail.split_once('\n') {
        error.detail = detail.to_owned();
    }
}

#[test]
fn forbidden_changes_are_refused_with_the_message_of_the_real_server() {
    let cases: Value = serde_json::from_str(REFUSED).unwrap();
    let mut failures = Vec::new();
    for case in cases["updates"].as_array().unwrap() {
        let (mut new, old) = (case["new"].clone(), &case["old"]);
        let ty = type_of(old);
        default(ty, &mut new);
        prepare_for_update(ty, &mut new, old);
        if ty.kind == "Service" && needs_cluster_ip(&new) {
            set_cluster_ip(&mut new, std::net::Ipv4Addr::new(10, 0, 0, 9));
        }
        let mut errors = validate_update(ty, &new, old);
        for error in &mut errors {
            leave_out_structs(error);
        }
        compare(case, &errors, &mut failures);
        let mut returned = case["returned"].clone();
        path::copy(&mut returned, &new, "metadata.resourceVersion");
        if case["code"] == 200 && returned != new {
            failures.push(format!("{}: {new}\n  returned {returned}", case["name"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
