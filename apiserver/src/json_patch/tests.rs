//! Tests of JSON patches.

use serde_json::json;

use super::*;
use crate::json_weight;

fn patched(document: &Value, patch: &Value) -> Result<Value, StatusError> {
    JsonPatch::of(patch.clone(), OF_HANDLER, |why| StatusError::bad_request(why))?
        .applied_to(document)
}

#[test]
fn operations_do_what_those_of_the_real_server_do() {
    let document = json!({"a": {"b": 1, "/": 2}, "l": [1, 2, 3]});
    let cases = [
        (json!({"op": "add", "path": "/a/c", "value": 3}), "/a/c", json!(3)),
        (json!({"op": "add", "path": "/l/-", "value": 4}), "/l", json!([1, 2, 3, 4])),
        (json!({"op": "add", "path": "/l/-1", "value": 4}), "/l", json!([1, 2, 3, 4])),
        (json!({"op": "add", "path": "/l/0", "value": 4}), "/l", json!([4, 1, 2, 3])),
        (json!({"op": "remove", "path": "/l/-1"}), "/l", json!([1, 2])),
        (json!({"op": "remove", "path": "/a/~1"}), "/a", json!({"b": 1})),
        (json!({"op": "replace", "path": "/a/absent", "value": 3}), "/a/absent", json!(3)),
        (json!({"op": "copy", "from": "/a/absent", "path": "/a/b"}), "/a/b", Value::Null),
        (json!({"op": "move", "from": "/l/0", "path": "/a/b"}), "/l", json!([2, 3])),
        (json!({"op": "test", "path": "/a/absent"}), "/l", json!([1, 2, 3])),
    ];
    for (operation, path, expected) in cases {
        let next = patched(&document, &json!([operation])).unwrap();
        assert_eq!(next.pointer(path), Some(&expected), "{operation}");
    }
}

#[test]
fn what_does_not_apply_is_refused() {
    for operation in [
        json!({"op": "remove", "path": "/a"}),
        json!({"op": "add", "path": "", "value": {}}),
        json!({"op": "add", "path": "/l/5", "value": 1}),
        json!({"op": "add", "path": "/l/-9", "value": 1}),
        json!({"op": "replace", "path": "/l/3", "value": 1}),
        json!({"op": "replace", "path": "", "value": 1}),
        json!({"op": "test", "path": "/l/0", "value": 2}),
        json!({"op": "wish", "path": "/l"}),
        json!({"op": "add"}),
        json!({}),
    ] {
        let refused = patched(&json!({"l": [1, 2, 3]}), &json!([operation]));
        assert_eq!(refused.unwrap_err().code, 422, "{operation}");
    }
}

#[test]
fn copies_end_at_three_mebibytes() {
    let mut patch = vec![json!({"op": "add", "path": "/l", "value": vec!["x"; 25_000]})];
    patch.extend((0..5).map(|_| json!({"op": "copy", "from": "/l", "path": "/l/-"})));
    // 100, 200, 400, 800, 1600 kB; the next one is too much.
    let document = json!({});
    assert!(patched(&document, &json!(patch)).is_ok());
    patch.extend((0..13).map(|_| json!({"op": "copy", "from": "/l", "path": "/l/-"})));
    assert_eq!(patched(&document, &json!(patch)).unwrap_err().code, 422);
}

#[test]
fn any_path_applies_or_is_refused() {
    const TOKENS: [&str; 14] = [
        "/",
        "/a",
        "/l",
        "a",
        "0",
        "-",
        "-1",
        "9223372036854775807",
        "~0",
        "~1",
        "~",
        "",
        "/l/0",
        "/a/b",
    ];
    let document = json!({"a": {"b": 1, "/": 2}, "l": [1, 2, {"a": []}]});
    let parser = |path: &str| {
        for (op, from) in ["add", "remove", "replace", "move", "copy", "test"]
            .into_iter()
            .flat_map(|op| [(op, path), (op, "/a")])
        {
            let step = json!({"op": op, "path": path, "from": from, "value": [1]});
            if let Ok(next) = patched(&document, &json!([step, step])) {
                assert!(json_weight::of(&next) <= 4 * json_weight::of(&document) + 200);
            }
        }
    };
    operetta_harness::random::some_texts(4, &TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}
