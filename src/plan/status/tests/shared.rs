//! A status that others write too.

use super::*;

fn pods() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn certificates() -> K8sType {
    K8sType::namespaced("cert-manager.io/v1", "Certificate", "certificates")
}

fn of(ty: &K8sType, status: &Value) -> Object {
    let value = json!({
        "metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3,
        },
        "status": status,
    });
    Object::from_value(ty, &value, &KeptManagers::default()).unwrap()
}

/// What is written when the handler has read `seen`, returns `handler`, and `present` is there now.
fn shared(
    ty: &K8sType,
    (seen, present): (&Value, &Value),
    handler: Option<&Value>,
    schema: &StatusSchema,
) -> Option<Value> {
    let children = [ChildStatus {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace: None,
        name: "a".to_owned(),
        state: ChildState::Synced,
        message: None,
    }];
    let patch = status_patch(StatusInput {
        parent: &of(ty, present),
        shared: Some(&of(ty, seen)),
        handler,
        conditions: &[ready(ConditionStatus::False, "ours")],
        cleared: &["Stalled".to_owned(), "Paused".to_owned()],
        children: ChildrenField::Listed(&children),
        names: &ConditionNames::default(),
        beside: None,
        observed_generation: true,
        schema,
        now: NOW,
    });
    patch.body.map(|body| body["status"].clone())
}

/// The same for a Pod that nobody has changed since.
fn written(present: &Value, handler: &Value) -> Option<Value> {
    shared(&pods(), (present, present), Some(handler), &StatusSchema::unknown())
}

fn kubelet() -> Value {
    let condition = |ty: &str, status: &str| json!({"type": ty, "status": status, "lastProbeTime": null, "lastTransitionTime": BEFORE});
    json!({
        "phase": "Running",
        "conditions": [condition("Ready", "True"), condition("Stalled", "True")],
        "containerStatuses": [{"name": "c", "restartCount": 1}],
    })
}

#[test]
fn without_a_status_from_the_handler_a_shared_status_is_not_modified() {
    let odd = json!("odd");
    for present in [kubelet(), json!({})] {
        for handler in [None, Some(&Value::Null), Some(&json!({})), Some(&odd)] {
            for (ty, schema) in [(pods(), StatusSchema::unknown()), (certificates(), schema())] {
                assert_eq!(
                    shared(&ty, (&present, &present), handler, &schema),
                    None,
                    "{handler:?}"
                );
            }
        }
    }
}

#[test]
fn conditions_are_not_replaced_by_anything_but_a_list() {
    for odd in [json!({}), json!(null), json!("Ready")] {
        assert_eq!(written(&kubelet(), &json!({"conditions": odd})), None, "{odd}");
    }
}

#[test]
fn the_handlers_fields_are_laid_over_those_of_others() {
    let handler = json!({
        "phase": "Odd", "message": "mine", "nested": {"a": {"b": 1}},
        "containerStatuses": [{"name": "c"}], "gone": null,
    });
    let expected = json!({"phase": "Odd", "message": "mine", "nested": {"a": {"b": 1}}});
    assert_eq!(written(&kubelet(), &handler), Some(expected));
    let present = json!({"nested": {"a": {"b": 1, "c": 2}, "d": 3}, "list": [1, 2]});
    let handler = json!({"nested": {"a": {"b": 2}}, "list": [2]});
    let expected = json!({"nested": {"a": {"b": 2}}, "list": [2]});
    assert_eq!(written(&present, &handler), Some(expected));
}

#[test]
fn conditions_of_the_handler_merge_by_type_also_ready_and_keep_other_fields() {
    let condition =
        |ty: &str, status: &str| json!({"type": ty, "status": status, "reason": "Mine"});
    let handler = json!({"conditions": [condition("Ready", "False"), condition("Fed", "True")]});
    let stalled = kubelet()["conditions"][1].clone();
    let expected = json!([
        {
            "type": "Ready", "status": "False", "reason": "Mine", "lastProbeTime": null,
            "lastTransitionTime": NOW,
        },
        stalled,
        {"type": "Fed", "status": "True", "reason": "Mine", "lastTransitionTime": NOW},
    ]);
    let patch = written(&kubelet(), &handler).unwrap();
    assert_eq!(patch, json!({"conditions": expected}));
    assert_eq!(written(&patch, &handler), None, "the time is that of the change");
    let reworded = json!({"conditions": [{"type": "Fed", "status": "True", "reason": "Other"}]});
    let patch = written(&patch, &reworded).unwrap();
    assert_eq!(patch["conditions"][2]["lastTransitionTime"], NOW);
    assert_eq!(patch["conditions"][2]["reason"], "Other");
}

/// The schema declares both, and they belong to others.
#[test]
fn only_the_handler_sets_the_observed_generation() {
    let present = json!({"observedGeneration": 2});
    let condition = json!({"type": "Fed", "status": "True"});
    let handler = json!({"conditions": [condition]});
    let written = |handler: &Value| {
        shared(&certificates(), (&present, &present), Some(handler), &schema()).unwrap()
    };
    let expected = json!([{"type": "Fed", "status": "True", "lastTransitionTime": NOW}]);
    assert_eq!(written(&handler), json!({"conditions": expected}));
    assert_eq!(written(&json!({"observedGeneration": 3})), json!({"observedGeneration": 3}));
}

/// As after a conflict, when the status had changed meanwhile.
#[test]
fn values_that_a_handler_only_read_do_not_overwrite_later_ones() {
    let seen = json!({
        "phase": "Pending", "nested": {"a": "1"},
        "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": BEFORE},
            {"type": "Fed", "status": "False", "lastTransitionTime": BEFORE},
        ],
    });
    let mut present = seen.clone();
    present["phase"] = json!("Running");
    present["nested"]["a"] = json!("2");
    present["conditions"][0]["status"] = json!("True");
    let mut handler = seen.clone();
    handler["nested"]["b"] = json!("3");
    handler["conditions"] = json!([
        {"type": "Ready", "status": "False", "reason": "", "message": ""},
        {"type": "Fed", "status": "True"},
    ]);
    let patch = |handler: &Value| {
        shared(&certificates(), (&seen, &present), Some(handler), &StatusSchema::unknown())
    };
    let mut conditions = present["conditions"].clone();
    conditions[1] = json!({"type": "Fed", "status": "True", "lastTransitionTime": NOW});
    let expected = json!({"nested": {"b": "3"}, "conditions": conditions});
    assert_eq!(patch(&handler), Some(expected));
    assert_eq!(patch(&seen), None);
}

#[test]
fn values_that_the_server_adds_or_drops_are_no_difference() {
    let ports = json!({"ingress": [{"ip": "192.0.2.1", "ipMode": "VIP"}]});
    let condition = json!({
        "type": "Fed", "status": "True", "lastProbeTime": null, "lastTransitionTime": BEFORE,
    });
    let present = json!({"loadBalancer": ports, "conditions": [condition]});
    let handler = json!({
        "loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}, "reason": "", "items": [], "map": {},
        "conditions": [{"type": "Fed", "status": "True", "reason": "", "message": ""}],
    });
    assert_eq!(written(&present, &handler), None);
    let custom = shared(
        &certificates(),
        (&json!({}), &json!({})),
        Some(&json!({"reason": "", "items": []})),
        &StatusSchema::unknown(),
    );
    assert_eq!(custom, Some(json!({"reason": "", "items": []})), "it is kept as it is sent");
}

#[test]
fn undeclared_fields_are_not_sent_to_a_shared_status_either() {
    let parent = of(&certificates(), &json!({}));
    let handler = json!({"phase": "x", "odd": 1});
    let input = StatusInput {
        parent: &parent,
        shared: Some(&parent),
        handler: Some(&handler),
        conditions: &[],
        cleared: &[],
        children: ChildrenField::Off,
        names: &ConditionNames::default(),
        beside: None,
        observed_generation: false,
        schema: &schema(),
        now: NOW,
    };
    let patch = status_patch(input);
    assert_eq!(patch.body.unwrap()["status"], json!({"phase": "x"}));
    assert_eq!(paths(&patch.undeclared), [".status.odd"]);
    let none = status_patch(StatusInput { schema: &StatusSchema::none(), ..input });
    assert_eq!((none.body, paths(&none.undeclared)), (None, vec![".status".to_owned()]));
}
