use operetta_harness::random;
use serde_json::{Value, json};

use super::{Budget, Found, Path};

fn first(path: &str, object: &Value) -> Option<Value> {
    let path = Path::parse(path)?;
    let found = path.first(object, &mut Budget::new(10_000))?;
    Some(match found {
        Found::Json(value) => value.clone(),
        Found::Text(text) => json!(text),
        Found::Integer(integer) => json!(integer),
        Found::Float(float) => json!(float),
        Found::Bool(truth) => json!(truth),
        Found::Byte(byte) => json!(byte),
    })
}

#[test]
fn paths_find_fields_elements_and_filtered_elements() {
    let object = json!({
        "spec": {"n": 3, "list": [{"a": 1}]},
        "metadata": {"labels": {"app.kubernetes.io/name": "x"}},
        "status": {"conditions": [
            {"type": "Other", "status": "False"},
            {"type": "Ready", "status": "True"},
        ]},
    });
    let cases = [
        (".spec.n", json!(3)),
        (".spec.list[0].a", json!(1)),
        (r".metadata.labels.app\.kubernetes\.io/name", json!("x")),
        (r".metadata.labels['app\.kubernetes\.io/name']", json!("x")),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!("True")),
        (".status.conditions[?(@.type=='Ready')].status", json!("True")),
    ];
    for (path, expected) in cases {
        assert_eq!(first(path, &object), Some(expected), "{path}");
    }
    assert_eq!(first(".spec.none", &object), None);
}

#[test]
fn a_search_that_grows_with_each_step_ends_with_its_budget() {
    let deep = (0..90).fold(json!("x"), |below, _| json!({ "a": below }));
    let doubled = format!(".a{}", "['a','a']".repeat(60));
    assert_eq!(first(&doubled, &deep), None);
    let path = Path::parse(&"..a".repeat(40)).unwrap();
    let mut budget = Budget::new(1_000_000);
    assert_eq!(path.first(&deep, &mut budget), None);
    assert_eq!(budget.take(1), None, "all of it is spent");
}

const TOKENS: [&str; 36] = [
    ".", "..", "[", "]", "['", "']", "*", "[*]", "[?(@.", ")]", "@", "$", "==", "!=", "<", ">=",
    "a", "b", "labels", "0", "-1", "[0:2]", ":", ",", "'a'", "\"a\"", r"\", r"\.", r"\\.", "{",
    "}", " ", "end", "true", "1.5", r"'\x41'",
];

#[test]
fn any_text_is_a_path_or_none_and_its_search_ends() {
    let object = json!({
        "a": [{"a": 1, "b": "x"}, {"a": 2}, [{"a": {"b": 3}}]],
        "b": {"a": "text", "b": null},
        "labels": {"a.b/c": "x", "a": {"b": [0, 1, 2]}},
    });
    let parser = |text: &str| {
        let Some(path) = Path::parse(text) else { return };
        let nodes: usize = path.0.iter().map(Vec::len).sum();
        assert!(nodes <= text.len() + 2);
        let _ = path.first(&object, &mut Budget::new(5_000));
    };
    random::texts(&TOKENS, parser);
    random::texts(&TOKENS, |text| parser(&format!(".labels{text}")));
    random::long_texts(&TOKENS, parser);
}

#[test]
fn an_escaped_dot_in_brackets_is_not_read_for_ever() {
    let object = json!({"labels": {"a.b/c": "x", "a": {"b/c": "y"}}});
    for (path, expected) in [(r".labels['a\.b/c']", "x"), (r".labels['a\\.b/c']", "y")] {
        assert_eq!(first(path, &object), Some(json!(expected)), "{path}");
    }
}
