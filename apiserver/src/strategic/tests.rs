//! The answers of the real server's own function, made by `tests/controlplane/cmd/strategic`.

use serde_json::{Map, Value, json};

use super::*;
use crate::builtin;

/// One case a line.
const ANSWERS: &str = include_str!("testdata/answers.jsonl");

fn type_of(name: &str) -> PatchType {
    let parts: Vec<&str> = name.split('/').collect();
    let found = match parts[..] {
        [version, kind] => builtin::find("", version, kind),
        [group, version, kind] => builtin::find(group, version, kind),
        _ => None,
    };
    PatchType::of(found.unwrap_or_else(|| panic!("{name} is a built-in type")))
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn answered(case: &Value) -> Value {
    let ty = type_of(case["type"].as_str().unwrap());
    match patch(&ty, map(&case["original"]), &mut map(&case["patch"])) {
        Ok(result) => json!({ "result": result }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn said(case: &Value) -> Value {
    match &case["error"] {
        Value::Null => json!({ "result": map(&case["result"]) }),
        error => json!({ "error": error }),
    }
}

#[test]
fn patches_are_merged_as_the_real_server_merges_them() {
    let cases: Vec<Value> =
        ANSWERS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= 300, "{}", cases.len());
    let differing: Vec<String> = cases
        .iter()
        .filter(|case| answered(case) != said(case))
        .map(|case| format!("{case}\n  here: {}", answered(case)))
        .collect();
    assert!(
        differing.is_empty(),
        "{} of {}:\n{}",
        differing.len(),
        cases.len(),
        differing.join("\n")
    );
}
