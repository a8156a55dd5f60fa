//! Fields of structs, maps and atomic values: who owns them, who conflicts, what is removed.

use serde_json::json;

use super::Live;

#[test]
fn the_first_apply_creates_the_object_and_owns_its_leaves() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "struct": {"a": "x"}, "map": {"k": "v"}}));
    assert_eq!(live.managers(), ["alice Apply: .spec.map.k .spec.replicas .spec.struct.a"]);
    assert_eq!(live.time_of("alice"), "2026-01-01T00:00:01Z");
    assert_eq!(live.object()["kind"], "Thing");
}

#[test]
fn an_apply_without_a_change_keeps_the_object_with_its_times() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "set": ["a", "b"]}));
    let before = live.object().clone();
    live.apply_spec("alice", json!({"replicas": 1, "set": ["a", "b"]}));
    assert_eq!(live.object(), &before);
}

#[test]
fn another_value_for_a_field_of_another_applier_is_a_conflict() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    let message = live.refused_spec("bob", json!({"replicas": 2}));
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"alice\": .spec.replicas");
}

#[test]
fn the_same_value_makes_two_owners_of_a_field() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.apply_spec("bob", json!({"replicas": 1}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.replicas");
    assert_eq!(live.fields_of("bob Apply"), ".spec.replicas");
}

/// As seen on kube-apiserver: the time is that of a change, and there was none.
#[test]
fn an_applier_that_agrees_with_everything_has_an_entry_without_time() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.apply_spec("bob", json!({"replicas": 1}));
    assert_eq!(live.time_of("bob"), "");
    live.apply_spec("bob", json!({"replicas": 1, "text": "x"}));
    assert_eq!(live.time_of("bob"), "2026-01-01T00:00:03Z");
}

#[test]
fn an_integer_and_the_same_number_as_a_fraction_are_equal() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"ratio": 1}));
    live.apply_spec("bob", json!({"ratio": 1.0}));
    assert_eq!(live.fields_of("bob Apply"), ".spec.ratio");
}

#[test]
fn force_takes_the_field_from_everyone_else() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.force_spec("bob", json!({"replicas": 2}));
    assert_eq!(live.spec()["replicas"], 2);
    assert_eq!(live.fields_of("alice Apply"), ".spec.text");
    assert_eq!(live.fields_of("bob Apply"), ".spec.replicas");
}

#[test]
fn a_manager_that_loses_all_its_fields_loses_its_entry() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.force_spec("bob", json!({"replicas": 2}));
    assert_eq!(live.managers(), ["bob Apply: .spec.replicas"]);
}

#[test]
fn a_field_that_is_not_applied_any_more_is_removed() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec(), &json!({"replicas": 1}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.replicas");
}

#[test]
fn a_field_that_another_applier_owns_too_stays() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.apply_spec("bob", json!({"text": "x"}));
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec(), &json!({"replicas": 1, "text": "x"}));
    assert_eq!(live.fields_of("bob Apply"), ".spec.text");
}

#[test]
fn a_field_that_an_updater_owns_too_stays() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.update("carol", |object| object["spec"]["text"] = json!("y"));
    live.force_spec("alice", json!({"replicas": 1, "text": "y"}));
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec(), &json!({"replicas": 1, "text": "y"}));
    assert_eq!(live.fields_of("carol Update"), ".spec.text");
}

#[test]
fn a_field_that_nobody_owns_stays_as_long_as_its_struct_has_an_owner() {
    let mut live = Live::new();
    let others = json!({"replicas": 1, "struct": {"deeper": {"c": "x"}}});
    live.apply_spec("alice", json!({"replicas": 1, "struct": {"a": "x", "deeper": {"c": "x"}}}));
    live.object.as_mut().expect("is there")["spec"]["struct"]["b"] = json!("defaulted");
    live.apply_spec("alice", others);
    let kept = json!({"b": "defaulted", "deeper": {"c": "x"}});
    assert_eq!(live.spec(), &json!({"replicas": 1, "struct": kept}));
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec(), &json!({"replicas": 1}));
}

#[test]
fn a_struct_is_removed_with_its_last_field() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "struct": {"deeper": {"c": "x"}}}));
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec(), &json!({"replicas": 1}));
}

#[test]
fn a_struct_that_an_apply_empties_is_null_and_owned() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"struct": {"a": "x"}}));
    live.apply_spec("alice", json!({"struct": {}}));
    assert_eq!(live.spec(), &json!({"struct": null}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.struct");
}

#[test]
fn keys_of_a_map_are_owned_one_by_one() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"map": {"a": "1", "b": "1"}}));
    live.apply_spec("bob", json!({"map": {"c": "1"}}));
    live.apply_spec("alice", json!({"map": {"a": "1"}}));
    assert_eq!(live.spec()["map"], json!({"a": "1", "c": "1"}));
    assert_eq!(live.fields_of("bob Apply"), ".spec.map.c");
}

#[test]
fn structs_in_a_map_are_owned_themselves_and_by_field() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"structs": {"x": {"value": 1}}}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.structs.x .spec.structs.x.value");
    live.apply_spec("bob", json!({"structs": {"x": {"name": "n"}}}));
    live.apply_spec("alice", json!({"structs": {}}));
    assert_eq!(live.spec()["structs"], json!({"x": {"name": "n"}}));
}

#[test]
fn an_atomic_map_has_one_owner_as_a_whole() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"atomicMap": {"a": "1", "b": "1"}}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.atomicMap");
    let message = live.refused_spec("bob", json!({"atomicMap": {"c": "1"}}));
    assert!(message.ends_with("conflict with \"alice\": .spec.atomicMap"), "{message}");
    live.force_spec("bob", json!({"atomicMap": {"c": "1"}}));
    assert_eq!(live.spec()["atomicMap"], json!({"c": "1"}));
}

#[test]
fn an_atomic_list_is_replaced_as_a_whole() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"atomicList": ["a", "b"]}));
    live.apply_spec("alice", json!({"atomicList": ["c"]}));
    assert_eq!(live.spec()["atomicList"], json!(["c"]));
    assert_eq!(live.fields_of("alice Apply"), ".spec.atomicList");
}

#[test]
fn null_is_a_value_that_is_owned() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"text": null, "replicas": 1}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.replicas .spec.text");
    assert_eq!(live.spec(), &json!({"text": null, "replicas": 1}));
}

#[test]
fn null_for_a_struct_keeps_what_others_have_in_it() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"struct": {"a": "x"}}));
    live.apply_spec("bob", json!({"struct": null}));
    assert_eq!(live.spec()["struct"], json!({"a": "x"}));
    assert_eq!(live.fields_of("bob Apply"), ".spec.struct");
}

#[test]
fn unknown_maps_are_merged_and_unknown_lists_are_leaves() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"free": {"m": {"a": 1, "b": [1, {"x": 1}]}}}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.free.m .spec.free.m.a .spec.free.m.b");
    live.apply_spec("bob", json!({"free": {"m": {"c": true}}}));
    live.apply_spec("alice", json!({"free": {"m": {"b": [2]}}}));
    assert_eq!(live.spec()["free"], json!({"m": {"b": [2], "c": true}}));
}

#[test]
fn an_unknown_value_may_change_its_form() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"any": {"a": 1}}));
    live.apply_spec("alice", json!({"any": [1]}));
    assert_eq!(live.spec()["any"], json!([1]));
    assert_eq!(live.fields_of("alice Apply"), ".spec.any");
    live.apply_spec("alice", json!({"any": "text"}));
    live.apply_spec("alice", json!({"any": {"b": 1}}));
    assert_eq!(live.spec()["any"], json!({"b": 1}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.any.b");
}

#[test]
fn an_int_or_string_is_a_leaf_of_either_kind() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"port": 80}));
    live.apply_spec("alice", json!({"port": "http"}));
    assert_eq!(live.spec()["port"], "http");
    assert_eq!(live.fields_of("alice Apply"), ".spec.port");
}

#[test]
fn labels_and_annotations_are_owned_by_key_and_identity_fields_have_no_owner() {
    let mut live = Live::new();
    let metadata = json!({"labels": {"a": "1"}, "annotations": {"b": "1"}, "generation": 3});
    live.try_apply("alice", json!({"metadata": metadata}), false).expect("it applies");
    let fields = ".metadata.annotations.b .metadata.labels.a";
    assert_eq!(live.fields_of("alice Apply"), fields);
}

#[test]
fn an_applier_of_nothing_has_no_entry() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"text": "x"}));
    live.try_apply("bob", json!({}), false).expect("it applies");
    live.try_apply("alice", json!({}), false).expect("it applies");
    assert_eq!(live.managers(), [""; 0]);
    assert_eq!(live.object().get("spec"), None);
}

#[test]
fn an_applier_keeps_its_one_entry_when_it_moves_to_another_version() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.version = "example.com/v2";
    live.apply_spec("alice", json!({"replicas": 2}));
    assert_eq!(live.managers(), ["alice Apply: .spec.replicas"]);
    assert_eq!(live.spec(), &json!({"replicas": 2}));
    let entry = &live.object()["metadata"]["managedFields"][0];
    assert_eq!(entry["apiVersion"], "example.com/v2");
}

/// The real server adds back what others own version by version, and forgets on the way the parts
/// of a container that is owned in a later version only.
#[test]
fn parts_of_a_dropped_map_entry_survive_in_the_version_that_owns_the_entry() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"structs": {"x": {"tags": ["t"]}}, "replicas": 1}));
    live.update("carol", |object| object["spec"]["structs"]["x"]["value"] = json!(1));
    live.apply_spec("alice", json!({"structs": {"x": {"tags": ["t"], "value": 1}}, "replicas": 1}));
    live.version = "example.com/v2";
    live.apply_spec("bob", json!({"structs": {"x": {"tags": ["t"]}}}));
    live.version = "example.com/v1";
    live.apply_spec("alice", json!({"replicas": 1}));
    assert_eq!(live.spec()["structs"], json!({"x": {"tags": ["t"]}}));
    assert_eq!(live.fields_of("carol Update"), "nothing");
}

#[test]
fn the_main_resource_ignores_status_and_the_subresource_is_another_manager() {
    let mut live = Live::new();
    live.try_apply("alice", json!({"spec": {"replicas": 1}, "status": {"ready": 1}}), false)
        .expect("it applies");
    assert_eq!(live.managers(), ["alice Apply: .spec.replicas"]);
    live.through(Some("status"), &["metadata", "spec"]);
    live.try_apply("alice", json!({"spec": {"replicas": 5}, "status": {"ready": 2}}), false)
        .expect("it applies");
    assert_eq!(live.fields_of("alice Apply/status"), ".status.ready");
    assert_eq!(live.fields_of("alice Apply"), ".spec.replicas");
}

#[test]
fn an_embedded_object_has_typed_metadata() {
    let mut live = Live::new();
    let template = json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["f"]}, "spec": {}});
    live.apply_spec("alice", json!({"template": template}));
    let fields = ".spec.template.metadata.finalizers[=\"f\"] .spec.template.metadata.labels.a \
                  .spec.template.spec";
    assert_eq!(live.fields_of("alice Apply"), fields);
}
