#![expect(clippy::needless_pass_by_value, reason = "values made for one call")]

use serde_json::{Value, json};

use super::*;

/// What is wrong with a value of the field `spec.f`.
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
fn a_missing_field_is_required_where_it_belongs() {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["a"]},
        "list": {"type": "array", "items": {"type": "object", "required": ["b"]}}
    }});
    assert_eq!(
        errors(&schema, &json!({"list": [{"b": 1}, {}]})),
        ["spec: Required value", "list[1].b: Required value"]
    );
    assert_eq!(errors(&schema, &json!({"spec": {}})), ["spec.a: Required value"]);
}

#[test]
fn each_rule_complains_in_its_own_words() {
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
fn numbers_must_fit_their_format() {
    let int32 = json!({"type": "integer", "format": "int32"});
    let message = "<nil>: Invalid value: \"\": Checked value must be of type integer with format \
                   int32 in spec.f";
    assert_eq!(wrong(&int32, json!(2_147_483_648_i64)), [message]);
    assert_eq!(wrong(&int32, json!(-2_147_483_649_i64)), [message]);
    assert!(wrong(&int32, json!(i32::MIN)).is_empty());
    let not_int32 =
        r#"spec.f: Invalid value: "float64": spec.f in body must be of type int32: "float64""#;
    assert_eq!(sorted(wrong(&int32, json!(1.5))), [message, not_int32]);
    let message = "<nil>: Invalid value: \"\": Checked value must be of type integer (default \
                   format) in spec.f";
    let not_integer =
        r#"spec.f: Invalid value: "number": spec.f in body must be of type integer: "number""#;
    for value in [json!(1.5), json!(u64::MAX), json!(1e300)] {
        assert_eq!(sorted(wrong(&json!({"type": "integer"}), value)), [message, not_integer]);
    }
    let float = json!({"type": "number", "format": "float"});
    assert!(wrong(&float, json!(1e39))[0].contains("type number with format float"));
    assert!(wrong(&float, json!(1e38)).is_empty());
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
fn of_null_only_type_and_enum_are_judged() {
    let field = json!({
        "type": "string", "nullable": true, "minLength": 1, "pattern": "^a",
        "anyOf": [{"enum": ["a"]}, {"not": {}}]
    });
    assert!(wrong(&field, json!(null)).is_empty());
    let field = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    assert_eq!(
        wrong(&field, json!(null)),
        [r#"spec.f: Unsupported value: null: supported values: "a""#]
    );
}

#[test]
fn no_valid_branch_is_told_with_the_complaints_of_the_best_one() {
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
fn one_of_wants_exactly_one_branch() {
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
fn all_of_says_which_rules_are_broken_and_that_not_all_hold() {
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
fn formats_are_judged_as_kube_apiserver_judges_them() {
    for (format, good, bad) in [
        ("date-time", "2026-01-31T23:59:59.5+02:00", "2026-02-30T00:00:00Z"),
        ("date-time", "2026-01-31t23:59:59z", "2026-01-31"),
        ("date", "2024-02-29", "2023-02-29"),
        ("duration", "1h30m", "now"),
        ("duration", "3 days", "soon"),
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
        ("mac", "00:00:5e:00:53:01", "00:00:5e"),
        ("uuid", "123e4567-E89b-12d3-a456-426614174000", "123e4567"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("byte", "aGVsbG8=", "aGVsbG8"),
        ("uri", "https://example.com/a%20b", "example.com"),
        ("email", "a.b@example.com", "a b"),
        ("hostname", "a.example.com", "-a"),
        ("hostname", "a-b", "a.b"),
        ("hexcolor", "#ffAA00", "#ffA"[..2].into()),
        ("k8s-short-name", "a-b", "a.b"),
    ] {
        let field = json!({"type": "string", "format": format});
        assert!(wrong(&field, json!(good)).is_empty(), "{format} {good}");
        let text = go_value_of(bad);
        assert_eq!(
            wrong(&field, json!(bad)),
            [format!(
                "spec.f: Invalid value: {text}: spec.f in body must be of type {format}: {text}"
            )]
        );
    }
    assert!(wrong(&json!({"type": "string", "format": "made-up"}), json!("\0")).is_empty());
}

fn go_value_of(text: &str) -> String {
    crate::schema::go_value::quote(text)
}

#[test]
fn a_value_of_the_wrong_type_for_a_format_is_told_about_the_format() {
    let field = json!({"type": "string", "format": "date-time"});
    assert_eq!(
        wrong(&field, json!(5)),
        [r#"spec.f: Invalid value: "int64": spec.f in body must be of type date-time: "int64""#]
    );
    assert_eq!(
        wrong(&field, json!(true)),
        [r#"spec.f: Invalid value: "": spec.f in body must be of type date-time: """#]
    );
}

#[test]
fn elements_that_must_be_unique_are_named_at_their_second_place() {
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
fn embedded_resources_need_a_type_and_good_metadata() {
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
fn a_status_is_judged_by_its_own_schema() {
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
fn a_pattern_that_cannot_be_understood_is_refused_with_its_place() {
    let schema = Schema::from_open_api(&json!({"properties": {"a": {"pattern": "("}}}));
    let error = Validator::new(schema).unwrap_err().to_string();
    assert!(error.contains("properties/a"), "{error}");
}

#[test]
fn patterns_of_go_keep_their_meaning() {
    for (pattern, good, bad) in [
        ("(?i)^abc$", "ABC", "abd"),
        (r"^\d+$", "12", "٣"),
        (r"^\w+$", "a_1", "ä"),
        (r"\Aab\z", "ab", "Aabz"),
        (r"^[[:alpha:]]+$", "ab", "1"),
        (r"^\pL+$", "äb", "1"),
        (r"^\s$", " ", "\u{a0}"),
        (r"^[[a&&b~~]+$", "[&~", "c"),
        (r"^[]a]+$", "]a", "["),
        (r"^[^\d\]]+$", "a", "1"),
        (r"\bfoo\b", "a foo", "afoo"),
        (r"^\<a\/b-\_$", "<a/b-_", "a/b"),
    ] {
        let field = json!({"type": "string", "pattern": pattern});
        assert!(wrong(&field, json!(good)).is_empty(), "{pattern} {good}");
        assert!(!wrong(&field, json!(bad)).is_empty(), "{pattern} {bad}");
    }
}

#[test]
fn deep_nesting_does_no_harm() {
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
fn rules_of_the_wrong_form_do_not_break_the_schema() {
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
