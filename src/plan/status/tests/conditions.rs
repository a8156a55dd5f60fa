//! How conditions of handlers, of the framework and of others meet.

use super::*;

#[test]
fn a_condition_keeps_its_time_until_its_status_changes() {
    let condition = |status: &str, message: &str, time: &str| {
        json!({
            "type": "Ready", "status": status, "reason": "Synced", "message": message,
            "lastTransitionTime": time, "observedGeneration": 3,
        })
    };
    let present = json!({
        "observedGeneration": 3, "conditions": [condition("True", "a", BEFORE)],
    });
    for (now, expected) in [
        (ready(ConditionStatus::True, "a"), None),
        (ready(ConditionStatus::True, "b"), Some(condition("True", "b", BEFORE))),
        (ready(ConditionStatus::False, "a"), Some(condition("False", "a", NOW))),
    ] {
        let (patch, _) = patched(&present, None, &[now], &schema());
        assert_eq!(patch, expected.map(|expected| json!({"conditions": [expected]})));
    }
}

#[test]
fn conditions_merge_by_type_and_cleared_ones_are_removed() {
    let old = |ty: &str| json!({"type": ty, "status": "True", "lastTransitionTime": BEFORE});
    let present = json!({
        "observedGeneration": 3, "conditions": [old("Others"), old("Conflict"), old("Mine")],
    });
    // The handler's time is ignored: it would change with every reconcile.
    let handler = json!({"conditions": [
        {"type": "Mine", "status": "False", "lastTransitionTime": "2020-01-01T00:00:00Z"},
    ]});
    let conditions = [ready(ConditionStatus::True, "")];
    let (patch, undeclared) = patched(&present, Some(&handler), &conditions, &schema());
    let conditions = patch.unwrap()["conditions"].clone();
    let seen: Vec<_> = conditions
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (&c["type"], &c["lastTransitionTime"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!("Others"), &json!(BEFORE)),
            (&json!("Mine"), &json!(NOW)),
            (&json!("Ready"), &json!(NOW)),
        ]
    );
    assert!(undeclared.is_empty());
}

#[test]
fn conditions_of_others_are_never_modified() {
    let others = json!({"type": "Others", "status": "True", "observedGeneration": 1});
    let gone = json!({"type": "Conflict", "status": "True"});
    let present = json!({"observedGeneration": 3, "conditions": [others, gone]});
    for handler in [None, Some(&json!({})), Some(&json!("odd"))] {
        let (patch, _) = patched(&present, handler, &[], &schema());
        assert_eq!(patch, Some(json!({"conditions": [others]})));
    }
}

#[test]
fn a_handler_sets_no_condition_of_the_framework_but_ready_where_that_has_none() {
    let stale = json!({"type": "Stalled", "status": "True", "reason": "Before"});
    let present = json!({"observedGeneration": 3, "conditions": [stale]});
    let (up, down) = (
        ready(ConditionStatus::True, ""),
        |ty: &str, status: Value| json!({"type": ty, "status": status}),
    );
    for (returned, conditions, written, is_reported) in [
        (down("Ready", json!("False")), vec![up.clone()], json!([["Ready", "True"]]), false),
        (down("Ready", json!("False")), vec![], json!([["Ready", "False"]]), false),
        (down("Ready", json!(false)), vec![up.clone()], json!([["Ready", "True"]]), true),
        (down("Synced", json!("False")), vec![up.clone()], json!([["Ready", "True"]]), true),
        (down("Reconciling", json!("False")), vec![], json!([]), true),
    ] {
        let patch = status_patch(StatusInput {
            parent: &parent(&present),
            shared: None,
            handler: Some(&json!({"conditions": [stale, returned]})),
            conditions: &conditions,
            cleared: &["Stalled".to_owned()],
            children: ChildrenField::Off,
            names: &ConditionNames::default(),
            beside: None,
            observed_generation: true,
            schema: &schema(),
            now: NOW,
        });
        let body = patch.body.unwrap();
        let shown = body["status"]["conditions"].as_array().unwrap();
        let shown: Value = shown.iter().map(|c| json!([c["type"], c["status"]])).collect();
        assert_eq!((shown, patch.overruled_condition), (written, is_reported), "{returned}");
    }
}

#[test]
fn a_condition_of_the_framework_that_a_handler_returns_is_still_cleared() {
    let ours = json!({"type": "Conflict", "status": "True", "reason": "Ours"});
    let present = json!({"observedGeneration": 3, "conditions": [ours]});
    let written = |handler: &Value| {
        let status = patch(&present, &json!({"conditions": [handler]})).unwrap();
        status["conditions"].as_array().map(Vec::len)
    };
    assert_eq!(written(&ours), Some(0));
    assert_eq!(
        written(&json!({"type": "Conflict", "status": "True", "reason": "Theirs"})),
        Some(1)
    );
}

#[test]
fn undeclared_fields_of_a_condition_are_not_sent() {
    let status = json!({"type": "object", "properties": {"conditions": {
        "type": "array", "items": {"type": "object", "properties": {
            "type": {"type": "string"}, "status": {"type": "string"},
        }},
    }}});
    let schema = StatusSchema::from_open_api(Some(&status), true);
    let (patch, undeclared) =
        patched(&json!({}), None, &[ready(ConditionStatus::Unknown, "m")], &schema);
    let expected = json!({"conditions": [{"type": "Ready", "status": "Unknown"}]});
    assert_eq!((patch, undeclared), (Some(expected), vec![]));
}
