//! Writes other than applies: they become owners of what they change.

use serde_json::json;

use super::Live;

#[test]
fn a_created_object_belongs_to_its_creator_down_to_the_containers() {
    let mut live = Live::new();
    live.update("carol", |object| object["spec"] = json!({"map": {"k": "v"}, "replicas": 1}));
    assert_eq!(live.managers(), ["carol Update: .spec .spec.map .spec.map.k .spec.replicas"]);
}

#[test]
fn an_update_owns_what_it_changes_and_takes_it_from_others() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.update("carol", |object| object["spec"]["replicas"] = json!(2));
    assert_eq!(live.managers(), ["alice Apply: .spec.text", "carol Update: .spec.replicas"]);
    assert_eq!(live.time_of("alice"), "2026-01-01T00:00:01Z");
    assert_eq!(live.time_of("carol"), "2026-01-01T00:00:02Z");
}

#[test]
fn applying_over_an_update_is_a_conflict_that_names_its_version() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.update("carol", |object| object["spec"]["replicas"] = json!(2));
    let message = live.refused_spec("alice", json!({"replicas": 1}));
    let expected = "Apply failed with 1 conflict: conflict with \"carol\" using \
                    example.com/v1: .spec.replicas";
    assert_eq!(message, expected);
}

#[test]
fn an_update_that_removes_a_field_takes_it_from_everyone() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1, "text": "x"}));
    live.update("carol", |object| {
        object["spec"].as_object_mut().expect("a struct").remove("replicas");
    });
    assert_eq!(live.managers(), ["alice Apply: .spec.text"]);
}

#[test]
fn an_update_that_changes_nothing_changes_no_time() {
    let mut live = Live::new();
    live.update("carol", |object| object["spec"] = json!({"replicas": 1}));
    let before = live.object().clone();
    live.update("carol", |_| {});
    live.update("dave", |_| {});
    assert_eq!(live.object(), &before);
}

#[test]
fn updates_of_one_manager_add_up() {
    let mut live = Live::new();
    live.update("carol", |object| object["spec"] = json!({"replicas": 1}));
    live.update("carol", |object| object["spec"]["text"] = json!("x"));
    assert_eq!(live.managers(), ["carol Update: .spec .spec.replicas .spec.text"]);
    assert_eq!(live.time_of("carol"), "2026-01-01T00:00:02Z");
}

#[test]
fn an_updater_has_an_entry_for_each_version_and_subresource() {
    let mut live = Live::new();
    live.update("carol", |object| object["spec"] = json!({"replicas": 1}));
    live.version = "example.com/v2";
    live.update("carol", |object| {
        object["apiVersion"] = json!("example.com/v2");
        object["spec"]["text"] = json!("x");
    });
    live.through(Some("status"), &["metadata", "spec"]);
    live.update("carol", |object| object["status"] = json!({"ready": 1}));
    assert_eq!(live.managers().len(), 3);
    assert_eq!(live.fields_of("carol Update/status"), ".status .status.ready");
}

#[test]
fn applying_and_updating_under_one_name_are_two_managers() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.update("alice", |object| object["spec"]["text"] = json!("x"));
    assert_eq!(live.managers(), ["alice Apply: .spec.replicas", "alice Update: .spec.text"]);
}

#[test]
fn a_status_that_comes_through_the_main_resource_is_owned_by_nobody() {
    let mut live = Live::new();
    live.update("carol", |object| {
        object["spec"] = json!({"replicas": 1});
        object["status"] = json!({"ready": 1});
    });
    assert_eq!(live.managers(), ["carol Update: .spec .spec.replicas"]);
}

#[test]
fn a_request_without_managers_keeps_those_that_are_stored() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.update("carol", |object| {
        object["metadata"].as_object_mut().expect("is there").remove("managedFields");
        object["spec"]["text"] = json!("x");
    });
    assert_eq!(live.managers().len(), 2);
}

#[test]
fn a_request_may_edit_the_managers() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.update("carol", |object| {
        object["metadata"]["managedFields"][0]["manager"] = json!("zoe");
    });
    assert_eq!(live.managers(), ["zoe Apply: .spec.replicas"]);
}

#[test]
fn malformed_managers_of_a_request_are_ignored() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.update("carol", |object| {
        object["metadata"]["managedFields"][0]["fieldsType"] = json!("FieldsV9");
    });
    assert_eq!(live.managers(), ["alice Apply: .spec.replicas"]);
}

#[test]
fn a_subresource_cannot_edit_the_managers() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    live.through(Some("status"), &["metadata", "spec"]);
    live.update("carol", |object| object["metadata"]["managedFields"] = json!([{}]));
    assert_eq!(live.managers(), ["alice Apply: .spec.replicas"]);
}

#[test]
fn an_empty_entry_or_an_empty_list_removes_all_managers_until_the_next_apply() {
    for reset in [json!([{}]), json!([])] {
        let mut live = Live::new();
        live.apply_spec("alice", json!({"replicas": 1}));
        live.update("carol", |object| object["metadata"]["managedFields"] = reset);
        assert_eq!(live.managers(), [""; 0]);
        live.update("carol", |object| object["spec"]["text"] = json!("x"));
        assert_eq!(live.managers(), [""; 0], "an untracked object stays untracked");
        live.apply_spec("bob", json!({"text": "x"}));
        assert_eq!(
            live.managers(),
            ["bob Apply: .spec.text", "before-first-apply Update: .spec .spec.replicas .spec.text"]
        );
    }
}

#[test]
fn only_ten_updaters_are_kept_and_the_oldest_become_ancient_changes() {
    let mut live = Live::new();
    live.update("creator", |object| object["spec"] = json!({"map": {}}));
    for index in 0..13 {
        let key = format!("k{index:02}");
        live.update(&format!("m{index:02}"), |object| object["spec"]["map"][key] = json!("v"));
    }
    let managers = live.managers();
    assert_eq!(managers.len(), 10);
    assert_eq!(
        managers[0],
        "ancient-changes Update: .spec .spec.map .spec.map.k00 .spec.map.k01 .spec.map.k02 \
         .spec.map.k03"
    );
    assert_eq!(live.time_of("ancient-changes"), "2026-01-01T00:00:05Z");
}

#[test]
fn appliers_do_not_count_among_the_ten() {
    let mut live = Live::new();
    for index in 0..15 {
        live.apply_spec(&format!("m{index:02}"), json!({"map": {format!("k{index}"): "v"}}));
    }
    assert_eq!(live.managers().len(), 15);
}

#[test]
fn entries_come_appliers_first_then_by_time_then_by_name() {
    let mut live = Live::new();
    live.update("zoe", |object| object["spec"] = json!({"replicas": 1}));
    live.update("carol", |object| object["spec"]["text"] = json!("x"));
    live.apply_spec("mia", json!({"map": {"a": "1"}}));
    live.apply_spec("alice", json!({"map": {"b": "1"}}));
    let names: Vec<String> = live.managers().iter().map(|line| name_of(line)).collect();
    assert_eq!(names, ["mia", "alice", "zoe", "carol"]);
}

fn name_of(line: &str) -> String {
    line.split(' ').next().expect("a name").to_owned()
}

#[test]
fn a_nameless_manager_is_unknown() {
    let mut live = Live::new();
    live.update("", |object| object["spec"] = json!({"replicas": 1}));
    assert_eq!(name_of(&live.managers()[0]), "unknown");
}

#[test]
fn a_value_that_changes_its_form_loses_the_owners_of_its_parts() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"any": {"a": 1}}));
    live.update("carol", |object| object["spec"]["any"] = json!("text"));
    assert_eq!(live.managers(), ["carol Update: .spec.any"]);
}

#[test]
fn an_object_that_does_not_match_its_schema_keeps_the_managers_that_it_had() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    let before = live.managers();
    live.update("carol", |object| object["spec"]["replicas"] = json!("many"));
    assert_eq!(live.managers(), before);
}

#[test]
fn duplicates_are_not_tracked_when_one_of_the_managers_wrote_in_another_version() {
    let twice = json!([{"name": "x"}, {"name": "x"}]);
    for (version, managers) in [("example.com/v1", 2), ("example.com/v2", 1)] {
        let mut live = Live::new();
        live.apply_spec("alice", json!({"replicas": 1}));
        live.version = version;
        live.update("carol", |object| object["spec"]["children"] = twice.clone());
        assert_eq!(live.managers().len(), managers, "{version}");
    }
}

#[test]
fn the_creator_does_not_own_the_fields_of_an_empty_object_of_the_type() {
    let live = Live::new();
    let after = live.whole(json!({"spec": {"map": {"k": "v"}, "children": [{"name": "x"}]}}));
    let empty = json!({"metadata": {}, "spec": {"children": null}, "status": {}});
    let request = super::Request {
        manager: "carol",
        api_version: live.version,
        subresource: None,
        now: "2026-01-01T00:00:01Z",
        reset: &["status"],
        empty: Some(&empty),
        versions: None,
    };
    let created = super::track_update(None, after, &live.schema, &request);
    let fields = json!({"f:spec": {
        "f:map": {".": {}, "f:k": {}},
        "f:children": {r#"k:{"name":"x"}"#: {".": {}, "f:name": {}}},
    }});
    assert_eq!(created["metadata"]["managedFields"][0]["fieldsV1"], fields);
}
