#![expect(clippy::needless_pass_by_value, reason = "values made for one call")]

use serde_json::{Value, json};

use super::{name_rule::dns_subdomain, *};

fn created(metadata: Value) -> Vec<String> {
    lines(validate_create(&json!({"metadata": metadata}), true, dns_subdomain))
}

/// The errors of a valid object with these fields of its metadata.
fn created_with(fields: Value) -> Vec<String> {
    created(with(json!({"name": "a", "namespace": "b"}), fields))
}

fn updated_with(old: Value, fields: Value) -> Vec<String> {
    let good = json!({"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1"});
    let old = with(good, old);
    let new = with(old.clone(), fields);
    lines(validate_update(&json!({"metadata": new}), &json!({"metadata": old})))
}

fn with(mut metadata: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        metadata[name] = value.clone();
    }
    metadata
}

fn lines(errors: Vec<FieldError>) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn valid_metadata_has_no_errors() {
    let metadata = json!({
        "generateName": "web-", "labels": {"app.kubernetes.io/name": "x", "empty": ""},
        "annotations": {"Example.com/Any_Case": "a b\0"}, "finalizers": ["example.com/x"],
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "1", "controller": true},
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "2", "controller": false}
        ],
        "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1"}],
        "creationTimestamp": null
    });
    assert_eq!(created_with(metadata), Vec::<String>::new());
}

#[test]
fn an_object_needs_a_name_and_a_namespaced_one_a_namespace() {
    assert_eq!(
        created(json!({})),
        [
            "metadata.name: Required value: name or generateName is required",
            "metadata.namespace: Required value",
        ]
    );
    assert_eq!(lines(validate_create(&json!(null), false, dns_subdomain)).len(), 1);
    let object = json!({"metadata": {"name": "a", "namespace": "b"}});
    assert_eq!(
        lines(validate_create(&object, false, dns_subdomain)),
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
}

#[test]
fn names_follow_the_rule_of_the_type() {
    let errors = created_with(json!({"name": "A", "generateName": "BB-"}));
    assert!(
        errors[0].starts_with("metadata.generateName: Invalid value: \"BB-\": a lowercase RFC")
    );
    assert!(errors[1].starts_with("metadata.name: Invalid value: \"A\": a lowercase RFC 1123 sub"));
    let object = json!({"metadata": {"name": "system:x"}});
    assert!(validate_create(&object, false, name_rule::path_segment).is_empty());
    assert!(created_with(json!({"namespace": "a.b"}))[0].ends_with("must not contain dots"));
}

#[test]
fn labels_and_annotations_are_validated_by_key_value_and_size() {
    let errors = created_with(json!({"labels": {"a b": "c d"}, "annotations": {"x/y/z": ""}}));
    assert!(errors[0].starts_with("metadata.labels: Invalid value: \"a b\": name part must"));
    assert!(errors[1].starts_with("metadata.labels: Invalid value: \"c d\": a valid label must"));
    assert!(errors[2].starts_with("metadata.annotations: Invalid value: \"x/y/z\": a valid label"));
    let most = "x".repeat(256 * 1024 - 1);
    assert!(created_with(json!({"annotations": {"a": most}})).is_empty());
    assert_eq!(
        created_with(json!({"annotations": {"ab": most}})),
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
}

#[test]
fn an_owner_reference_is_complete() {
    assert_eq!(
        created_with(json!({"ownerReferences": [{}]})),
        [
            "metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
            "metadata.ownerReferences[0].kind: Required value: must not be empty",
            "metadata.ownerReferences[0].name: Required value: must not be empty",
            "metadata.ownerReferences[0].uid: Required value: must not be empty",
        ]
    );
    let deep = json!({"apiVersion": "a/b/c", "kind": "X", "name": "n", "uid": "1"});
    assert_eq!(
        created_with(json!({"ownerReferences": [deep]})),
        ["metadata.ownerReferences[0].apiVersion: Invalid value: \"a/b/c\": \
          must be <group>/<version> or <version>"]
    );
    let event = json!({"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "1"});
    assert_eq!(
        created_with(json!({"ownerReferences": [event]})),
        [
            r#"metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"1"}: /v1, Kind=Event is disallowed from being an owner"#
        ]
    );
}

#[test]
fn only_one_owner_is_the_controller() {
    let owner = |name: &str| json!({"uid": name, "name": name, "kind": "A", "apiVersion": "b/v1", "controller": true});
    assert_eq!(
        created_with(json!({"ownerReferences": [owner("x"), owner("y")]})),
        ["metadata.ownerReferences: Invalid value: \
          [{\"apiVersion\":\"b/v1\",\"kind\":\"A\",\"name\":\"x\",\"uid\":\"x\",\"controller\":true},\
          {\"apiVersion\":\"b/v1\",\"kind\":\"A\",\"name\":\"y\",\"uid\":\"y\",\"controller\":true}]: \
          Only one reference can have Controller set to true. Found \"true\" in references for \
          A/x and A/y"]
    );
}

#[test]
fn finalizers_are_qualified_names_and_do_not_contradict_each_other() {
    assert!(
        created_with(json!({"finalizers": ["a b"]}))[0]
            .starts_with("metadata.finalizers: Invalid value: \"a b\": name part must consist of")
    );
    assert_eq!(
        created_with(json!({"finalizers": ["orphan", "foregroundDeletion"]})),
        [
            r#"metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#
        ]
    );
}

#[test]
fn plain_values_of_managed_fields_are_validated() {
    let manager = format!("{}\u{7}", "x".repeat(128));
    assert_eq!(
        created_with(json!({"managedFields": [
            {"operation": "Delete", "fieldsType": "V2", "manager": manager, "subresource": "s".repeat(257)}
        ]}))
        .into_iter()
        .map(|line| line.replace(&"x".repeat(128), "X"))
        .collect::<Vec<_>>(),
        [
            "metadata.managedFields[0].operation: Invalid value: \"Delete\": must be `Apply` or `Update`",
            "metadata.managedFields[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
            r#"metadata.managedFields[0].manager: Invalid value: "X\a": invalid character U+0007 (at position 128)"#,
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
        ]
    );
}

#[test]
fn fields_that_identify_an_object_are_immutable() {
    for (field, value, shown) in [
        ("name", json!("z"), "\"z\""),
        ("namespace", json!(""), "\"\""),
        ("uid", json!("other"), "\"other\""),
        ("creationTimestamp", json!("2026-01-01T00:00:00Z"), "\"2026-01-01T00:00:00Z\""),
        ("deletionTimestamp", json!("2026-01-01T00:00:00Z"), "\"2026-01-01T00:00:00Z\""),
        ("deletionGracePeriodSeconds", json!(3), "3"),
    ] {
        assert_eq!(
            updated_with(json!({}), json!({field: value})),
            [format!("metadata.{field}: Invalid value: {shown}: field is immutable")]
        );
    }
    assert_eq!(
        updated_with(json!({"deletionTimestamp": "x"}), json!({"deletionTimestamp": null})),
        ["metadata.deletionTimestamp: Invalid value: null: field is immutable"]
    );
}

#[test]
fn an_update_names_the_version_it_replaces_and_never_goes_back() {
    assert_eq!(
        updated_with(json!({"generation": 2}), json!({"resourceVersion": "", "generation": 1})),
        [
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.generation: Invalid value: 1: must not be decremented",
        ]
    );
}

#[test]
fn an_object_that_is_being_deleted_takes_no_new_finalizers() {
    let deleting = json!({"deletionTimestamp": "x", "finalizers": ["a", "b"]});
    assert_eq!(
        updated_with(deleting.clone(), json!({"finalizers": ["d", "a", "c", "c"]})),
        [
            r#"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c", "d"}"#
        ]
    );
    assert!(updated_with(deleting, json!({"finalizers": ["b"]})).is_empty());
    assert!(updated_with(json!({}), json!({"finalizers": ["new"]})).is_empty());
}

#[test]
fn a_value_of_the_wrong_type_is_one_error() {
    for (field, value) in [
        ("name", json!(1)),
        ("labels", json!([])),
        ("labels", json!({"a": 1})),
        ("annotations", json!("\0")),
        ("finalizers", json!([null])),
        ("ownerReferences", json!({})),
        ("ownerReferences", json!([1])),
        ("managedFields", json!([[]])),
        ("generation", json!("1")),
        ("generation", json!(1e300)),
        ("creationTimestamp", json!({})),
    ] {
        let errors = created_with(json!({field: value}));
        assert_eq!(errors.len(), 1, "{field} {value}");
        assert!(errors[0].starts_with(&format!("metadata.{field}: Invalid value: ")), "{errors:?}");
        assert_eq!(updated_with(json!({}), json!({field: value})).len(), 1, "{field} {value}");
    }
    assert_eq!(created(json!([])), ["metadata: Invalid value: []: must be an object"]);
    let odd =
        json!({"ownerReferences": [{"apiVersion": 1, "kind": [], "uid": {}, "controller": "x"}]});
    assert_eq!(created_with(odd).len(), 4);
}
