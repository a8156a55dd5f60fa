use serde_json::json;

use super::*;
use crate::{diff::path::MAX_PATHS, object::KeptManagers};

fn pod() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn custom() -> K8sType {
    K8sType::namespaced("example.com/v1", "Thing", "things")
}

fn paths(ty: &K8sType, desired: &Value, live: &Value, fields: &Value) -> Vec<String> {
    paths_with(&Defaults::default(), ty, desired, live, fields)
}

fn paths_with(
    defaults: &Defaults,
    ty: &K8sType,
    desired: &Value,
    live: &Value,
    fields: &Value,
) -> Vec<String> {
    let fields = fields.to_string();
    let fields = FieldSet::parse(&fields).unwrap();
    let found = compared(ty, desired, live, (Some(&fields), defaults), MAX_PATHS);
    let found: Vec<_> = found.into_iter().map(|found| found.path).collect();
    let mut stored = live.clone();
    stored["metadata"]["name"] = json!("a");
    stored["metadata"]["uid"] = json!("u");
    stored["metadata"]["resourceVersion"] = json!("1");
    let stored = Object::from_value(ty, &stored, &KeptManagers::default()).unwrap();
    let is_plain = text::is_plainly_contained(desired, &stored, &fields);
    assert!(!is_plain || found.is_empty(), "{desired} in {live}: {found:?}");
    found
}

#[test]
fn fields_of_others_and_defaults_of_the_server_are_no_difference() {
    let desired = json!({"spec": {"a": 1, "b": {"c": "x"}}});
    let live = json!({"spec": {"a": 1.0, "b": {"c": "x", "d": "y"}, "e": true}, "status": {}});
    let fields = json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}});
    assert_eq!(paths(&pod(), &desired, &live, &fields), Vec::<String>::new());
}

#[test]
fn a_difference_is_reported_with_its_path() {
    let desired = json!({
        "metadata": {"labels": {"a/b": "1"}}, "spec": {"x": 1, "y": "80", "z": [1, 2]},
    });
    let live = json!({"metadata": {"labels": {"a/b": "2"}}, "spec": {"y": 80, "z": [1, 3]}});
    let fields = json!({"f:metadata": {"f:labels": {"f:a/b": {}}}});
    assert_eq!(
        paths(&pod(), &desired, &live, &fields),
        [".metadata.labels[\"a/b\"]", ".spec.x", ".spec.y", ".spec.z[1]"]
    );
}

#[test]
fn at_most_ten_paths_are_reported() {
    let many: Map<String, Value> = (0..50).map(|n| (format!("k{n}"), json!(1))).collect();
    assert_eq!(paths(&pod(), &Value::Object(many), &json!({}), &json!({})).len(), MAX_PATHS);
}

#[test]
fn an_empty_value_that_the_server_dropped_is_equal_only_where_we_own_it() {
    let empty = [json!({}), json!(""), json!(false), json!(0), json!({"x": ""})];
    for value in empty {
        let desired = json!({"spec": {"a": value}});
        let ours = json!({"f:spec": {"f:a": {}, "f:b": {}}});
        let deep = json!({"f:spec": {"f:a": {"f:x": {}}, "f:b": {}}});
        let fields = if value.get("x").is_some() { &deep } else { &ours };
        let live = json!({"spec": {}});
        assert!(paths(&pod(), &desired, &live, fields).is_empty(), "{desired}");
        // Somebody deleted the key of a map: we no longer own it, and it must be restored.
        let theirs = json!({"f:spec": {"f:b": {}}});
        assert_eq!(paths(&pod(), &desired, &live, &theirs), [".spec.a"]);
    }
    let desired = json!({"spec": {"a": []}});
    let empty = json!({"spec": {}});
    assert!(paths(&pod(), &desired, &empty, &json!({"f:spec": {"f:b": {}}})).is_empty());
    let desired = json!({"spec": {"a": 1}});
    let fields = json!({"f:spec": {"f:a": {}}});
    assert_eq!(paths(&pod(), &desired, &json!({"spec": {}}), &fields), [".spec.a"]);
}

#[test]
fn a_new_empty_value_in_an_atomic_value_of_ours_differs() {
    let fields = json!({"f:spec": {
        "f:nodeSelector": {}, "f:securityContext": {}, "f:endpoints": {}, "f:tolerations": {},
    }});
    let live = json!({"spec": {
        "nodeSelector": {"zone": "a"}, "securityContext": {}, "endpoints": [{"conditions": {}}],
        "tolerations": [{"operator": "Exists"}],
    }});
    for (desired, path) in [
        (json!({"nodeSelector": {"zone": "a", "edge": ""}}), ".spec.nodeSelector.edge"),
        (json!({"securityContext": {"privileged": false}}), ".spec.securityContext.privileged"),
        (
            json!({"endpoints": [{"conditions": {"ready": false}}]}),
            ".spec.endpoints[0].conditions.ready",
        ),
        (json!({"endpoints": [{"conditions": {}, "hints": {}}]}), ".spec.endpoints[0].hints"),
    ] {
        assert_eq!(paths(&pod(), &json!({"spec": desired}), &live, &fields), [path]);
    }
    let dropped = json!({"spec": {"tolerations": [{"operator": "Exists", "value": ""}]}});
    assert!(paths(&pod(), &dropped, &live, &fields).is_empty());
    assert_eq!(paths(&custom(), &dropped, &live, &fields), [".spec.tolerations[0].value"]);
    let nothing = json!({"spec": {}});
    let selector = json!({"spec": {"nodeSelector": {"edge": ""}}});
    assert_eq!(paths(&pod(), &selector, &nothing, &fields), [".spec.nodeSelector"]);
}

#[test]
fn an_empty_list_that_a_custom_resource_lacks_differs() {
    let desired = json!({"metadata": {"finalizers": []}, "spec": {"a": []}});
    let live = json!({"metadata": {}, "spec": {}});
    assert!(paths(&pod(), &desired, &live, &json!({})).is_empty());
    assert_eq!(paths(&custom(), &desired, &live, &json!({})), [".spec.a"]);
}

#[test]
fn a_default_of_a_custom_type_within_a_list_without_keys_is_no_difference() {
    let item = json!({"properties": {"weight": {"default": 1}}});
    let defaults = Defaults::of_schema(&json!({"properties": {"refs": {"items": item}}}));
    let fields = json!({"f:refs": {}});
    let live = |weight: u64| json!({"refs": [{"name": "a", "weight": weight}]});
    let differing =
        |desired: &Value, weight| paths_with(&defaults, &custom(), desired, &live(weight), &fields);
    let left_out = json!({"refs": [{"name": "a"}]});
    assert_eq!(differing(&left_out, 1), Vec::<String>::new());
    assert_eq!(differing(&left_out, 2), [".refs[0].weight"]);
    assert_eq!(differing(&live(2), 1), [".refs[0].weight"]);
    assert_eq!(paths(&custom(), &left_out, &live(1), &fields), [".refs[0].weight"]);
}

#[test]
fn list_items_are_matched_by_the_keys_in_the_managed_fields() {
    let desired = json!({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]});
    let live = json!({"ports": [
        {"port": 80, "protocol": "TCP", "name": "a", "targetPort": 80},
        {"port": 99, "protocol": "TCP"},
        {"port": 81, "protocol": "TCP", "name": "x"},
    ]});
    let fields = json!({"f:ports": {
        "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}},
        "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}},
    }});
    assert_eq!(paths(&pod(), &desired, &live, &fields), [".ports[port=81,protocol=\"TCP\"].name"]);
    let missing = json!({"ports": [{"port": 82}]});
    assert_eq!(paths(&pod(), &missing, &live, &fields), [".ports[port=82]"]);
}

#[test]
fn items_with_keys_are_in_the_desired_order_and_those_of_others_between_them() {
    let item = |name: &str| json!({"name": name, "value": "x"});
    let list = |names: &[&str]| json!({"env": names.iter().map(|it| item(it)).collect::<Vec<_>>()});
    let owned = json!({".": {}, "f:name": {}, "f:value": {}});
    let fields = json!({"f:env": {"k:{\"name\":\"a\"}": owned, "k:{\"name\":\"b\"}": owned}});
    let desired = list(&["a", "b"]);
    for (live, expected) in [
        (&["a", "b"][..], &[][..]),
        (&["x", "a", "y", "b", "z"], &[]),
        (&["b", "a"], &[".env"]),
        (&["b", "x", "a"], &[".env"]),
    ] {
        assert_eq!(paths(&pod(), &desired, &list(live), &fields), expected, "{live:?}");
    }
}

#[test]
fn a_set_may_hold_more_and_in_another_order() {
    let fields = json!({"f:s": {"v:\"a\"": {}, "v:\"b\"": {}}});
    let desired = json!({"s": ["b", "a"]});
    assert!(paths(&pod(), &desired, &json!({"s": ["a", "x", "b"]}), &fields).is_empty());
    assert_eq!(paths(&pod(), &desired, &json!({"s": ["a"]}), &fields), [".s[0]"]);
}

#[test]
fn an_atomic_list_has_the_same_length_and_order() {
    let fields = json!({"f:args": {}});
    let desired = json!({"args": ["a", "b"]});
    assert!(paths(&pod(), &desired, &desired, &fields).is_empty());
    assert_eq!(paths(&pod(), &desired, &json!({"args": ["a"]}), &fields), [".args"]);
    assert_eq!(paths(&pod(), &desired, &json!({"args": ["b", "a"]}), &fields).len(), 2);
    assert_eq!(paths(&pod(), &json!({"args": []}), &json!({"args": ["a"]}), &fields), [".args"]);
}

#[test]
fn a_field_of_an_atomic_value_that_is_no_longer_desired_differs_but_a_default_does_not() {
    let fields = json!({"f:selector": {}, "f:ports": {}});
    let desired = json!({"selector": {"a": "1"}, "ports": [{"port": 80}]});
    let defaulted = json!({"selector": {"a": "1"}, "ports": [{"port": 80, "protocol": "TCP"}]});
    assert!(paths(&pod(), &desired, &defaulted, &fields).is_empty());
    // A custom resource has its own defaults: one apply shows them.
    assert_eq!(paths(&custom(), &desired, &defaulted, &fields), [".ports[0].protocol"]);
    let more = json!({"selector": {"a": "1", "b": "2"}, "ports": [{"port": 80, "x": 1}]});
    assert_eq!(paths(&pod(), &desired, &more, &fields), [".ports[0].x", ".selector.b"]);
}

#[test]
fn an_empty_object_asks_for_the_defaults_of_the_server_but_an_empty_selector_for_none() {
    let fields = json!({"f:strategy": {}, "f:nodeSelector": {}, "f:items": {}});
    let desired = json!({"strategy": {}, "nodeSelector": {}, "items": [{}]});
    let live = json!({"strategy": {"type": "x"}, "nodeSelector": {"a": "b"}, "items": [{"c": 1}]});
    assert_eq!(paths(&pod(), &desired, &live, &fields), [".items[0].c", ".nodeSelector.a"]);
    assert_eq!(paths(&custom(), &desired, &live, &fields).len(), 3);
}

#[test]
fn fields_added_to_a_selector_differ_even_where_we_no_longer_own_it() {
    let (fields, live) = (json!({"f:spec": {"f:x": {}}}), json!({"matchLabels": {"a": "b"}}));
    let live = json!({"spec": {"x": 1, "podSelector": live, "other": live}});
    for (selector, found) in [
        (json!({}), &[".spec.podSelector.matchLabels"][..]),
        (json!({"matchLabels": {}}), &[".spec.podSelector.matchLabels.a"]),
        (json!({"matchLabels": {"a": "b"}}), &[]),
    ] {
        let desired = json!({"spec": {"x": 1, "podSelector": selector, "other": selector}});
        assert_eq!(paths(&pod(), &desired, &live, &fields), found);
        assert!(paths(&custom(), &desired, &live, &fields).is_empty());
    }
}

#[test]
fn quantities_are_recognized_by_type_and_path_only() {
    let fields = json!({"f:spec": {"f:resources": {"f:limits": {"f:cpu": {}}}, "f:x": {}}});
    let desired = json!({"spec": {"resources": {"limits": {"cpu": "0.1"}}, "x": "0.1"}});
    let live = json!({"spec": {"resources": {"limits": {"cpu": "100m"}}, "x": "100m"}});
    assert_eq!(paths(&pod(), &desired, &live, &fields), [".spec.x"]);
    assert_eq!(paths(&custom(), &desired, &live, &fields).len(), 2);
    let config_map = json!({"data": {"sizeLimit": "1Gi", "limits": "1"}});
    let other = json!({"data": {"sizeLimit": "1024Mi", "limits": "1000m"}});
    let fields = json!({"f:data": {"f:sizeLimit": {}, "f:limits": {}}});
    assert_eq!(paths(&pod(), &config_map, &other, &fields).len(), 2);
}

#[test]
fn large_whole_numbers_are_compared_exactly() {
    let (desired, live) = (json!({"a": u64::MAX}), json!({"a": u64::MAX - 1}));
    assert_eq!(paths(&pod(), &desired, &live, &json!({"f:a": {}})), [".a"]);
}
