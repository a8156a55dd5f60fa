//! The errors of objects, word for word.

#![expect(clippy::needless_pass_by_value, reason = "values made for one call")]

mod formats;

use serde_json::{Value, json};

use super::*;

/// The errors of a value of the field `spec.f`.
fn wrong(field: &Value, value: Value) -> Vec<String> {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"f": field}}
    }});
    errors(&schema, &json!({"spec": {"f": value}}))
}

fn errors(schema: &Value, object: &Value) -> Vec<String> {
    let validator = Validator::new(Schema::from_open_api(schema)).unwrap();
    validator.validate(object, None).iter().map(ToString::to_string).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn a_wrong_type_is_named_with_the_one_expected() {
    for (ty, value, actual) in [
        ("string", json!(1), "integer"),
        ("string", json!(1.5), "number"),
        ("string", json!(null), "null"),
        ("string", json!({}), "object"),
        ("integer", json!("1"), "string"),
        ("integer", json!(1e16), "number"),
        ("number", json!(true), "boolean"),
        ("boolean", json!("true"), "string"),
        ("object", json!([]), "array"),
    ] {
        let message = format!(
            "spec.f: Invalid value: \"{actual}\": spec.f in body must be of type {ty}: \"{actual}\""
        );
        assert_eq!(wrong(&json!({"type": ty}), value), [message]);
    }
    assert!(wrong(&json!({"type": "integer"}), json!(3.0)).is_empty());
    assert!(wrong(&json!({"type": "number"}), json!(3)).is_empty());
}

#[test]
fn a_missing_field_is_reported_at_its_path() {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["a"]},
        "list": {"type": "array", "items": {"type": "object", "required": ["b"]}}
    }});
    assert_eq!(
        errors(&schema, &json!({"list": [{"b": 1}, {}]})),
        ["list[1].b: Required value", "spec: Required value"]
    );
    assert_eq!(errors(&schema, &json!({"spec": {}})), ["spec.a: Required value"]);
}

#[test]
fn each_rule_has_its_own_message() {
    for (field, value, message) in [
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!("x"),
            r#"spec.f: Unsupported value: "x": supported values: "a", "b""#,
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!(3),
            r#"spec.f: Unsupported value: 3: supported values: "1", "2""#,
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!(0),
            "spec.f: Invalid value: 0: spec.f in body should be greater than or equal to 1",
        ),
        (
            json!({"type": "number", "maximum": 1.5}),
            json!(2.5),
            "spec.f: Invalid value: 2.5: spec.f in body should be less than or equal to 1.5",
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!(1),
            "spec.f: Invalid value: 1: spec.f in body should be greater than 1",
        ),
        (
            json!({"type": "integer", "maximum": 9, "exclusiveMaximum": true}),
            json!(9),
            "spec.f: Invalid value: 9: spec.f in body should be less than 9",
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            json!(7),
            "spec.f: Invalid value: 7: spec.f in body should be a multiple of 5",
        ),
        (
            json!({"type": "integer", "multipleOf": 0}),
            json!(7),
            "spec.f: Invalid value: 0: factor MultipleOf declared for spec.f must be positive: 0",
        ),
        (
            json!({"type": "string", "minLength": 1}),
            json!(""),
            r#"spec.f: Invalid value: "": spec.f in body should be at least 1 chars long"#,
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("abc"),
            "spec.f: Too long: may not be more than 2 bytes",
        ),
        (
            json!({"type": "string", "pattern": "^a+$"}),
            json!("b\0"),
            r#"spec.f: Invalid value: "b\x00": spec.f in body should match '^a+$'"#,
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
            json!([1]),
            "spec.f: Invalid value: 1: spec.f in body should have at least 2 items",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "maxItems": 1}),
            json!([1, 2]),
            "spec.f: Too many: 2: must have at most 1 item",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true}),
            json!([1, 1]),
            r#"spec.f: Invalid value: "": spec.f in body shouldn't contain duplicates"#,
        ),
        (
            json!({"type": "object", "minProperties": 1}),
            json!({}),
            "spec.f: Invalid value: 0: spec.f in body should have at least 1 properties",
        ),
        (
            json!({"type": "object", "maxProperties": 1}),
            json!({"a": 1, "b": 2}),
            "spec.f: Too many: 2: must have at most 1 item",
        ),
        (
            json!({"type": "string", "not": {"enum": ["x"]}}),
            json!("x"),
            r#"<nil>: Invalid value: "": "spec.f" must not validate the schema (not)"#,
        ),
    ] {
        assert_eq!(wrong(&field, value), [message]);
    }
}

#[test]
fn int_or_string_is_either_and_nothing_else() {
    let field = json!({"x-kubernetes-int-or-string": true});
    assert!(wrong(&field, json!(1)).is_empty());
    assert!(wrong(&field, json!("1")).is_empty());
    assert_eq!(
        wrong(&field, json!(true)),
        [
            r#"spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean""#
        ]
    );
    assert!(!wrong(&field, json!(null)).is_empty());
}

#[test]
fn for_null_only_type_and_enum_are_validated() {
    let field = json!({
        "type": "string", "nullable": true, "minLength": 1, "pattern": "^a",
        "anyOf": [{"enum": ["a"]}, {"not": {}}]
    });
    assert!(wrong(&field, json!(null)).is_empty());
    let field = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    assert_eq!(
        wrong(&field, json!(null)),
        [r#"spec.f: Unsupported value: null: supported values: "a", "null""#]
    );
}

#[test]
fn without_a_valid_branch_the_errors_of_the_best_one_are_reported() {
    let field = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "anyOf": [
        {"required": ["b"]},
        {"properties": {"a": {"minimum": 5}}}
    ]});
    assert_eq!(
        wrong(&field, json!({"a": 1})),
        [
            r#"<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)"#,
            "spec.f.a: Invalid value: 1: spec.f.a in body should be greater than or equal to 5",
        ]
    );
}

#[test]
fn one_of_requires_exactly_one_branch() {
    let field = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert!(wrong(&field, json!({"a": 1})).is_empty());
    let text =
        r#"<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf)."#;
    assert_eq!(
        wrong(&field, json!({})),
        [format!("{text} Found none valid"), "spec.f.a: Required value".to_owned()]
    );
    assert_eq!(
        wrong(&field, json!({"a": 1, "b": 1})),
        [format!("{text} Found 2 valid alternatives")]
    );
}

#[test]
fn all_of_reports_each_broken_rule_and_that_not_all_hold() {
    let field = json!({"type": "object", "allOf": [
        {"required": ["a"]}, {"properties": {"b": {"maximum": 1}}}
    ]});
    let text = r#"<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf)"#;
    assert_eq!(
        wrong(&field, json!({"a": 1, "b": 2})),
        ["spec.f.b: Invalid value: 2: spec.f.b in body should be less than or equal to 1", text]
    );
    assert_eq!(wrong(&field, json!({"b": 2})).last(), Some(&format!("{text}. None validated")));
}

#[test]
fn duplicate_elements_are_named_at_their_second_position() {
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    assert_eq!(wrong(&set, json!(["a", "b", "a", "a"])), [r#"spec.f[2]: Duplicate value: "a""#]);
    let map = json!({
        "type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {"type": "object"}
    });
    assert_eq!(
        wrong(&map, json!([{"port": 1, "x": 1}, {"port": 1, "protocol": "a"}, {"port": 1}])),
        [r#"spec.f[2]: Duplicate value: {"port":1}"#]
    );
    let inner = json!({"type": "object", "additionalProperties": set});
    assert_eq!(wrong(&inner, json!({"k": [1, 1]}))[2..], ["spec.f[k][1]: Duplicate value: 1"]);
}

#[test]
fn embedded_resources_need_a_type_and_valid_metadata() {
    let field = json!({
        "type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true
    });
    assert_eq!(
        wrong(&field, json!({"metadata": {"labels": {"a": "b c"}}}))[..2],
        ["spec.f.apiVersion: Required value", "spec.f.kind: Required value"]
    );
    assert!(
        wrong(&field, json!({"metadata": {"labels": {"a": "b c"}}}))[2]
            .starts_with(r#"spec.f.metadata.labels: Invalid value: "b c": a valid label must be"#)
    );
    assert!(wrong(&field, json!({"apiVersion": "a/b/c", "kind": "_"})).len() == 2);
    assert!(wrong(&field, json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}})).is_empty());
}

#[test]
fn a_status_is_validated_by_its_own_schema() {
    let schema = Schema::from_open_api(&json!({
        "type": "object", "properties": {"phase": {"type": "string"}}
    }));
    let validator = Validator::new(schema).unwrap();
    let errors = validator.validate_at(&FieldPath::new("status"), &json!({"phase": 1}), None);
    assert_eq!(
        errors[0].to_string(),
        r#"status.phase: Invalid value: "integer": phase in body must be of type string: "integer""#
    );
}

#[test]
fn deeply_nested_values_are_validated() {
    let mut schema = json!({"type": "string"});
    let mut value = json!(1);
    for _ in 0..120 {
        schema = json!({"type": "object", "properties": {"a": schema}});
        value = json!({"a": value});
    }
    assert_eq!(errors(&schema, &value).len(), 1);
    assert_eq!(errors(&json!({"type": "object"}), &value).len(), 0);
}

#[test]
fn the_bounds_of_a_number_are_tested_in_one_order() {
    let bounds = json!({"type": "number", "minimum": 2, "exclusiveMinimum": true, "multipleOf": 3});
    let schema = json!({"type": "object", "properties": {"a": bounds}});
    let found = errors(&schema, &json!({"a": 1}));
    assert!(found.len() == 2 && found[0].contains("multiple") && found[1].contains("greater"));
}

#[test]
fn rules_of_the_wrong_form_are_ignored() {
    for rules in [
        json!({"type": "string", "anyOf": []}),
        json!({"type": "integer", "multipleOf": 0}),
        json!({"type": "integer", "exclusiveMinimum": true}),
        json!({"type": "string", "format": 1}),
    ] {
        let schema = Schema::from_open_api(&json!({"properties": {"a": rules}}));
        assert!(Validator::new(schema).is_ok(), "{rules}");
    }
}
