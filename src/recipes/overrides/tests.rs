use serde_json::json;

use super::*;

fn template(own: &Value, theirs: &Value) -> Value {
    Overrides::of_pod_templates().merge(own, theirs).unwrap()
}

fn refused(own: &Value, theirs: &Value) -> String {
    Overrides::of_pod_templates().merge(own, theirs).unwrap_err().to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are literals of JSON")]
fn containers(containers: Value) -> Value {
    json!({"spec": {"containers": containers}})
}

#[test]
fn objects_merge_field_by_field_and_null_removes() {
    let own = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"nodeName": "n", "priority": 1}});
    let theirs = json!({
        "metadata": {"labels": {"b": null, "c": "3"}, "annotations": {"x": "y", "z": null}},
        "spec": {"priority": 2, "securityContext": {"runAsUser": 1, "fsGroup": null}, "hostUsers": null},
    });
    let expected = json!({
        "metadata": {"labels": {"a": "1", "c": "3"}, "annotations": {"x": "y"}},
        "spec": {"nodeName": "n", "priority": 2, "securityContext": {"runAsUser": 1}},
    });
    assert_eq!(template(&own, &theirs), expected);
    assert_eq!(template(&own, &json!(null)), own);
    assert_eq!(template(&own, &json!({})), own);
}

#[test]
fn lists_with_keys_merge_item_by_item_in_the_order_of_the_handler() {
    let own = containers(json!([
        {"name": "a", "image": "a:1", "env": [{"name": "X", "value": "1"}], "args": ["-v"]},
        {"name": "b", "image": "b:1", "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]},
    ]));
    let theirs = containers(json!([
        {"name": "c", "image": "c:1"},
        {"name": "b", "ports": [{"containerPort": 53, "protocol": "UDP", "name": "dns"}]},
        {"name": "a", "env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "3"}], "args": ["-q"]},
    ]));
    let expected = containers(json!([
        {
            "name": "a", "image": "a:1", "args": ["-q"],
            "env": [{"name": "X", "value": "3"}, {"name": "Y", "value": "2"}],
        },
        {
            "name": "b", "image": "b:1",
            "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}],
        },
        {"name": "c", "image": "c:1"},
    ]));
    assert_eq!(template(&own, &theirs), expected);
    let theirs = containers(
        json!([{"name": "b", "ports": [{"containerPort": 53, "protocol": "TCP", "name": "t"}]}]),
    );
    let ports = &template(&own, &theirs)["spec"]["containers"][1]["ports"];
    assert_eq!(ports[0], json!({"containerPort": 53, "protocol": "TCP", "name": "t"}));
    assert_eq!(ports[1], json!({"containerPort": 53, "protocol": "UDP"}));
}

#[test]
fn the_words_of_a_patch_work_in_lists_and_objects() {
    let own = containers(json!([{"name": "a"}, {"name": "b"}]));
    for (theirs, expected) in [
        (
            json!([{"name": "a", "$patch": "delete"}, {"name": "gone", "$patch": "delete"}]),
            json!([{"name": "b"}]),
        ),
        (json!([{"$patch": "replace"}, {"name": "c"}]), json!([{"name": "c"}])),
        (json!([{"$patch": "replace"}]), json!([])),
        (
            json!([{"name": "a", "$patch": "delete"}, {"name": "c"}]),
            json!([{"name": "b"}, {"name": "c"}]),
        ),
    ] {
        assert_eq!(template(&own, &containers(theirs)), containers(expected));
    }
    let own = json!({"spec": {"nodeSelector": {"a": "1"}, "dnsConfig": {"x": 1, "y": 2}}});
    for (theirs, expected) in [
        (
            json!({"nodeSelector": {"$patch": "replace", "b": "2"}}),
            json!({"nodeSelector": {"b": "2"}, "dnsConfig": {"x": 1, "y": 2}}),
        ),
        (
            json!({"nodeSelector": {"$patch": "delete"}}),
            json!({"nodeSelector": {}, "dnsConfig": {"x": 1, "y": 2}}),
        ),
        (json!({"other": {"$patch": "delete"}, "$patch": "replace"}), json!({})),
        (
            json!({"dnsConfig": {"$retainKeys": ["y", "z"], "z": 3}, "nodeSelector": null}),
            json!({"dnsConfig": {"y": 2, "z": 3}}),
        ),
    ] {
        assert_eq!(template(&own, &json!({"spec": theirs}))["spec"], expected);
    }
}

#[test]
fn lists_without_keys_and_those_of_custom_resources_are_replaced() {
    let own =
        json!({"spec": {"tolerations": [{"key": "a"}], "containers": [{"name": "a", "x": 1}]}});
    let theirs =
        json!({"spec": {"tolerations": [{"key": "b"}], "containers": [{"name": "a", "y": 2}]}});
    let merged = template(&own, &theirs);
    assert_eq!(merged["spec"]["tolerations"], json!([{"key": "b"}]));
    assert_eq!(merged["spec"]["containers"], json!([{"name": "a", "x": 1, "y": 2}]));
    let mut custom = own;
    custom["apiVersion"] = json!("example.dev/v1");
    custom["kind"] = json!("Deployment");
    let merged = Overrides::of_objects().merge(&custom, &theirs).unwrap();
    assert_eq!(merged["spec"]["containers"], json!([{"name": "a", "y": 2}]));
}

#[test]
fn what_the_handler_keeps_is_a_conflict_with_its_path_and_both_values() {
    let own = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "labels": {"x.dev/app": "a"}},
        "spec": {"ports": [{"port": 80, "targetPort": "http"}]},
    });
    let overrides = Overrides::of_objects();
    let kept = ["targetPort", "nodePort"].map(|name| format!(".spec.ports[port=80].{name}"));
    let overrides = overrides.keeping(".metadata.labels[\"x.dev/app\"]").unwrap();
    let overrides = kept.iter().fold(overrides, |it, path| it.keeping(path).unwrap());
    for (theirs, path, both) in [
        (json!({"kind": "Pod"}), ".kind", ["\"Pod\"", "\"Service\""]),
        (json!({"metadata": {"namespace": "b"}}), ".metadata.namespace", ["\"b\"", "nothing"]),
        (
            json!({"metadata": {"labels": null}}),
            ".metadata.labels[\"x.dev/app\"]",
            ["nothing", "\"a\""],
        ),
        (json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}}), &*kept[0], ["1", "\"http\""]),
        (json!({"spec": {"ports": [{"port": 80, "nodePort": 9}]}}), &*kept[1], ["9", "nothing"]),
    ] {
        let [overriding, own_value] = both.map(str::to_owned);
        let expected =
            OverrideError::Conflict { path: path.to_owned(), own: own_value, overriding };
        assert_eq!(overrides.merge(&own, &theirs), Err(expected));
    }
    // The same value is no conflict, nor is one beside it.
    let same = json!({"kind": "Service", "spec": {"ports": [{"port": 80, "targetPort": "http", "name": "web"}]}});
    assert_eq!(overrides.merge(&own, &same).unwrap()["spec"]["ports"][0]["name"], "web");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"p": "own"}});
    let overrides = Overrides::of_objects().keeping(".stringData").unwrap();
    let error =
        overrides.merge(&secret, &json!({"stringData": {"p": "theirs"}})).unwrap_err().to_string();
    assert!(!error.contains("own\"") && !error.contains("theirs"), "{error}");
}

#[test]
fn what_cannot_be_merged_is_refused_with_its_path() {
    let own = containers(json!([{"name": "a"}]));
    for (theirs, expected) in [
        (json!([]), "has a list at `.`, where the operator has an object"),
        (
            json!({"spec": {"containers": {"name": "a"}}}),
            "has an object at `.spec.containers`, where the operator has a list",
        ),
        (json!({"spec": "x"}), "has a string at `.spec`, where"),
        (containers(json!([{"image": "b"}])), "at `.spec.containers` has no `name`"),
        (containers(json!(["a"])), "has a string at `.spec.containers`"),
        (
            containers(json!([{"name": "a", "$patch": "merge"}])),
            "has `$patch: merge` at `.spec.containers`",
        ),
        (
            json!({"spec": {"$setElementOrder/containers": []}}),
            "has `$setElementOrder/containers` at `.spec`",
        ),
    ] {
        let error = refused(&own, &theirs);
        assert!(error.contains(expected), "{error}");
    }
    let deep = (0..300).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(refused(&own, &deep), "the override is nested more than 100 levels deep");
}
