//! Sets and lists with keys: elements have owners, and an order.

use serde_json::{Value, json};

use super::Live;

#[test]
fn elements_of_a_set_are_owned_one_by_one() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"set": ["a", "b"]}));
    live.apply_spec("bob", json!({"set": ["b", "c"]}));
    assert_eq!(live.spec()["set"], json!(["a", "b", "c"]));
    assert_eq!(live.fields_of("alice Apply"), r#".spec.set[="a"] .spec.set[="b"]"#);
    live.apply_spec("alice", json!({"set": []}));
    assert_eq!(live.spec()["set"], json!(["b", "c"]));
    live.apply_spec("bob", json!({"set": ["c"]}));
    assert_eq!(live.spec()["set"], json!(["c"]));
}

#[test]
fn numbers_in_a_set_are_the_same_however_they_are_written() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"numbers": [1, 2.5]}));
    live.apply_spec("bob", json!({"numbers": [1.0]}));
    assert_eq!(live.spec()["numbers"].as_array().map(Vec::len), Some(2));
    assert_eq!(live.fields_of("bob Apply"), ".spec.numbers[=1]");
}

#[test]
fn elements_with_keys_are_merged_field_by_field() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"children": [{"name": "x", "value": 1}]}));
    live.apply_spec("bob", json!({"children": [{"name": "x", "inner": {"a": "1"}}]}));
    let merged = json!([{"name": "x", "value": 1, "inner": {"a": "1"}}]);
    assert_eq!(live.spec()["children"], merged);
    let key = r#".spec.children[name="x"]"#;
    assert_eq!(live.fields_of("alice Apply"), format!("{key} {key}.name {key}.value"));
    assert_eq!(live.fields_of("bob Apply"), format!("{key} {key}.inner.a {key}.name"));
}

#[test]
fn an_element_that_is_not_applied_any_more_is_removed() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"children": [{"name": "x"}, {"name": "y", "value": 1}]}));
    live.apply_spec("alice", json!({"children": [{"name": "x"}]}));
    assert_eq!(live.spec()["children"], json!([{"name": "x"}]));
}

#[test]
fn an_element_with_fields_of_another_loses_only_those_of_the_applier() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"children": [{"name": "x", "value": 1}]}));
    live.apply_spec("bob", json!({"children": [{"name": "x", "tags": ["t"]}]}));
    live.apply_spec("alice", json!({"children": []}));
    assert_eq!(live.spec()["children"], json!([{"name": "x", "tags": ["t"]}]));
}

#[test]
fn an_element_is_removed_even_if_it_has_fields_without_an_owner() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "children": [{"name": "x"}]}));
    live.object.as_mut().expect("is there")["spec"]["children"][0]["value"] = json!(7);
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec().get("children"), None);
}

#[test]
fn another_value_in_an_element_is_a_conflict_at_its_field() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"children": [{"name": "x", "value": 1}]}));
    let message = live.refused_spec("bob", json!({"children": [{"name": "x", "value": 2}]}));
    let expected = r#"conflict with "alice": .spec.children[name="x"].value"#;
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn an_absent_key_field_takes_its_default() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"ports": [{"port": 80, "name": "web"}]}));
    let key = r#".spec.ports[port=80,protocol="TCP"]"#;
    assert_eq!(live.fields_of("alice Apply"), format!("{key} {key}.name {key}.port"));
    live.apply_spec("bob", json!({"ports": [{"port": 80, "protocol": "TCP"}]}));
    assert_eq!(live.spec()["ports"], json!([{"port": 80, "protocol": "TCP", "name": "web"}]));
    live.apply_spec("carol", json!({"ports": [{"port": 80, "protocol": "UDP"}]}));
    assert_eq!(live.spec()["ports"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_set_in_an_element_of_a_list_is_merged_too() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"children": [{"name": "x", "tags": ["a"]}]}));
    live.apply_spec("bob", json!({"children": [{"name": "x", "tags": ["b"]}]}));
    live.apply_spec("alice", json!({"children": [{"name": "x"}]}));
    assert_eq!(live.spec()["children"], json!([{"name": "x", "tags": ["b"]}]));
}

/// Live list, applied list, what becomes of them; the letters are elements of a set.
const ORDERS: [(&str, &str, &str); 12] = [
    ("abc", "abc", "abc"),
    ("abc", "cba", "cba"),
    ("abc", "c", "abc"),
    ("ab", "c", "abc"),
    ("abc", "ca", "bca"),
    ("abcd", "db", "acdb"),
    ("abc", "xb", "axbc"),
    ("abc", "bx", "abcx"),
    ("", "ab", "ab"),
    ("abc", "", "abc"),
    ("abc", "cxa", "bcxa"),
    ("bd", "abcde", "abcde"),
];

#[test]
fn common_elements_have_the_order_of_the_applied_list_and_others_keep_their_position() {
    for (live_order, applied, expected) in ORDERS {
        let letters = |text: &str| text.chars().map(|c| c.to_string()).collect::<Vec<_>>();
        let mut live = Live::new();
        live.update("carol", |object| object["spec"] = json!({"set": letters(live_order)}));
        live.apply_spec("alice", json!({"set": letters(applied)}));
        let merged: String =
            live.spec()["set"].as_array().expect("a list").iter().map(text).collect();
        assert_eq!(merged, expected, "{live_order} + {applied}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

#[test]
fn elements_that_came_twice_by_update_are_one_leaf_until_one_is_applied() {
    let mut live = Live::new();
    let twice = json!([{"name": "x", "value": 1}, {"name": "x", "value": 2}, {"name": "y"}]);
    live.update("carol", |object| object["spec"] = json!({"children": twice}));
    let (x, y) = (r#".spec.children[name="x"]"#, r#".spec.children[name="y"]"#);
    assert_eq!(live.fields_of("carol Update"), format!(".spec .spec.children {x} {y} {y}.name"));
    live.apply_spec("alice", json!({"children": [{"name": "y"}]}));
    assert_eq!(live.spec()["children"].as_array().map(Vec::len), Some(3));
    live.force_spec("alice", json!({"children": [{"name": "x", "value": 3}, {"name": "y"}]}));
    assert_eq!(live.spec()["children"], json!([{"name": "x", "value": 3}, {"name": "y"}]));
}

#[test]
fn finalizers_are_a_set_and_owners_are_atomic_by_uid() {
    let mut live = Live::new();
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"});
    let metadata = json!({"finalizers": ["a/b"], "ownerReferences": [owner]});
    live.try_apply("alice", json!({"metadata": metadata}), false).expect("it applies");
    let fields = r#".metadata.finalizers[="a/b"] .metadata.ownerReferences[uid="u"]"#;
    assert_eq!(live.fields_of("alice Apply"), fields);
}
