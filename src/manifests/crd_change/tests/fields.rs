//! Changes of the schema of one version.

use super::*;

fn yaml(text: &str) -> Value {
    serde_yaml_ng::from_str(text).unwrap()
}

/// The changes from one spec to the next.
fn of_spec(old: &Value, new: &Value) -> Vec<String> {
    let changes = between(&[of(old)], &[of(new)]);
    assert!(changes.iter().all(|it| it.version.as_deref() == Some("v1")), "{changes:?}");
    assert!(changes.iter().all(|it| !it.remedy.is_empty()), "{changes:?}");
    brief(&changes)
}

/// Checks the changes of a field `.spec.a`, from one schema to the next, in YAML.
fn assert_all(cases: &[(&str, &str, &[&str])]) {
    for (old, new, expected) in cases {
        assert_eq!(of_spec(&with(&yaml(old)), &with(&yaml(new))), *expected, "{old} -> {new}");
    }
}

#[test]
fn another_type_breaks_unless_it_has_all_values_of_the_old_one() {
    const EITHER: &str =
        "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}";
    const ANY: &str = "{x-kubernetes-preserve-unknown-fields: true}";
    assert_all(&[
        ("{type: string}", "{type: string}", &[]),
        ("{type: integer}", "{type: string}", &["breaks .spec.a: the type integer is now string"]),
        ("{type: integer}", "{type: number}", &["safe .spec.a: the type integer is now number"]),
        ("{type: number}", "{type: integer}", &["breaks .spec.a: the type number is now integer"]),
        ("{type: integer}", EITHER, &["safe .spec.a: the type integer is now int-or-string"]),
        ("{type: string}", EITHER, &["safe .spec.a: the type string is now int-or-string"]),
        (EITHER, "{type: string}", &["breaks .spec.a: the type int-or-string is now string"]),
        (EITHER, EITHER, &[]),
        (
            "{type: string}",
            ANY,
            &[
                "safe .spec.a: the type string is now any",
                "safe .spec.a: fields that the schema does not know are kept now",
            ],
        ),
        (ANY, "{type: string}", &["breaks .spec.a: the type any is now string"]),
    ]);
}

#[test]
fn a_limit_that_is_tightened_needs_a_version_and_a_wider_one_is_safe() {
    assert_all(&[
        (
            "{type: string, enum: [x, y]}",
            "{type: string, enum: [x, z]}",
            &["needs-version .spec.a: no longer valid: \"y\"", "safe .spec.a: also valid: \"z\""],
        ),
        (
            "{type: string}",
            "{type: string, enum: [x]}",
            &["needs-version .spec.a: only these values are valid now: \"x\""],
        ),
        ("{type: string, enum: [x]}", "{type: string}", &["safe .spec.a: any value is valid now"]),
        (
            "{type: string, minLength: 1}",
            "{type: string, minLength: 2}",
            &["needs-version .spec.a: minLength 1 is now 2"],
        ),
        ("{type: string}", "{type: string, minLength: 0}", &[]),
        (
            "{type: integer}",
            "{type: integer, minimum: 0}",
            &["needs-version .spec.a: minimum (none) is now 0"],
        ),
        (
            "{type: integer, maximum: 3}",
            "{type: integer, maximum: 9}",
            &["safe .spec.a: maximum 3 is now 9"],
        ),
        (
            "{type: integer, maximum: 3}",
            "{type: integer, maximum: 3, exclusiveMaximum: true}",
            &["needs-version .spec.a: exclusiveMaximum (none) is now true"],
        ),
        (
            "{type: array, items: {type: string}}",
            "{type: array, items: {type: string}, maxItems: 3}",
            &["needs-version .spec.a: maxItems (none) is now 3"],
        ),
        (
            "{type: integer, multipleOf: 4}",
            "{type: integer, multipleOf: 2}",
            &["safe .spec.a: multipleOf is changed"],
        ),
        (
            "{type: integer, multipleOf: 2}",
            "{type: integer, multipleOf: 4}",
            &["needs-version .spec.a: multipleOf is changed"],
        ),
    ]);
}

#[test]
fn a_pattern_or_a_format_that_is_added_or_changed_needs_a_version() {
    assert_all(&[
        (
            "{type: string}",
            "{type: string, pattern: ^x$}",
            &["needs-version .spec.a: a pattern is added: ^x$"],
        ),
        (
            "{type: string, pattern: ^x$}",
            "{type: string, pattern: ^y$}",
            &["needs-version .spec.a: the pattern ^x$ is now ^y$"],
        ),
        (
            "{type: string, pattern: ^x$}",
            "{type: string}",
            &["safe .spec.a: the pattern is removed"],
        ),
        (
            "{type: string}",
            "{type: string, format: date-time}",
            &["needs-version .spec.a: the format none is now date-time"],
        ),
        (
            "{type: integer, format: int64}",
            "{type: integer, format: int32}",
            &["needs-version .spec.a: the format int64 is now int32"],
        ),
        (
            "{type: integer, format: int32}",
            "{type: integer, format: int64}",
            &["safe .spec.a: the format int32 is now int64"],
        ),
    ]);
}

#[test]
fn a_null_or_a_default_that_is_gone_needs_a_version() {
    assert_all(&[
        (
            "{type: string, nullable: true}",
            "{type: string}",
            &["needs-version .spec.a: null is no longer valid"],
        ),
        ("{type: string}", "{type: string, nullable: true}", &["safe .spec.a: null is valid now"]),
        (
            "{type: string, default: x}",
            "{type: string}",
            &["needs-version .spec.a: the default \"x\" is removed"],
        ),
        (
            "{type: string, default: x}",
            "{type: string, default: y}",
            &["needs-version .spec.a: the default \"x\" is now \"y\""],
        ),
        (
            "{type: string}",
            "{type: string, default: x}",
            &["needs-version .spec.a: the default \"x\" is added"],
        ),
    ]);
}

#[test]
fn a_rule_that_is_added_needs_a_version_and_a_transition_rule_is_named_as_one() {
    let rules = |rules: Value| json!({"type": "string", "x-kubernetes-validations": rules});
    let changes =
        |old: Value, new: Value| between(&[of(&with(&rules(old)))], &[of(&with(&rules(new)))]);
    let added = changes(json!([]), json!([{"rule": "self != ''"}]));
    assert_eq!(brief(&added), ["needs-version .spec.a: a rule is added: `self != ''`"]);
    assert!(added[0].remedy.contains("until something in .spec.a changes"), "{added:?}");
    let transition = changes(json!([]), json!([{"rule": "self == oldSelf"}]));
    let expected = "needs-version .spec.a: a transition rule is added: `self == oldSelf`";
    assert_eq!(brief(&transition), [expected]);
    assert!(transition[0].remedy.starts_with("it holds for each update"), "{transition:?}");
    let removed = changes(json!([{"rule": "true"}]), json!([]));
    assert_eq!(brief(&removed), ["safe .spec.a: the rule `true` is removed"]);
    let said = changes(json!([{"rule": "true"}]), json!([{"rule": "true", "message": "m"}]));
    assert_eq!(brief(&said), ["safe .spec.a: what the rule `true` says is changed"]);
}

#[test]
fn other_keys_of_a_list_break_and_other_owners_need_a_version() {
    const LIST: &str =
        "type: array, items: {type: object, properties: {k: {type: string}, l: {type: string}}}";
    let list = |extra: &str| format!("{{{LIST}, {extra}}}");
    let keyed = |keys: &str| {
        list(&format!("x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [{keys}]"))
    };
    let (atomic, set) = (list(""), list("x-kubernetes-list-type: set"));
    assert_all(&[
        (&atomic, &set, &["breaks .spec.a: the list type atomic is now set"]),
        (&atomic, &keyed("k"), &["breaks .spec.a: the list type atomic is now map"]),
        (&keyed("k"), &atomic, &["needs-version .spec.a: the list type map is now atomic"]),
        (&keyed("k"), &keyed("l"), &["breaks .spec.a: the keys k are now l"]),
        (&keyed("k, l"), &keyed("l, k"), &[]),
        (
            "{type: object}",
            "{type: object, x-kubernetes-map-type: atomic}",
            &["needs-version .spec.a: the map type granular is now atomic"],
        ),
    ]);
}

#[test]
fn unknown_fields_and_embedded_objects() {
    const OPEN: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
    const EMBEDDED: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}";
    assert_all(&[
        (
            OPEN,
            "{type: object}",
            &["breaks .spec.a: fields that the schema does not know are no longer kept"],
        ),
        (
            "{type: object}",
            OPEN,
            &["safe .spec.a: fields that the schema does not know are kept now"],
        ),
        (OPEN, EMBEDDED, &["breaks .spec.a: it must be a Kubernetes object now"]),
        (EMBEDDED, OPEN, &[]),
        (
            OPEN,
            "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}}}",
            &["needs-version .spec.a.b: the schema declares the field now"],
        ),
        (
            "{type: object, properties: {b: {type: string}}}",
            OPEN,
            &[
                "safe .spec.a: fields that the schema does not know are kept now",
                "safe .spec.a.b: the field is kept without validation",
            ],
        ),
    ]);
}

#[test]
fn maps_and_nested_lists_are_followed() {
    const STRINGS: &str = "{type: object, additionalProperties: {type: string}}";
    const FIELD: &str = "{type: object, properties: {b: {type: string}}}";
    assert_all(&[
        (
            STRINGS,
            "{type: object, additionalProperties: {type: integer}}",
            &["breaks .spec.a[*]: the type string is now integer"],
        ),
        (STRINGS, FIELD, &["breaks .spec.a[*]: entries of any name are no longer kept"]),
        (FIELD, STRINGS, &[]),
        (
            FIELD,
            "{type: object, additionalProperties: {type: integer}}",
            &["breaks .spec.a.b: the type string is now integer"],
        ),
        (
            FIELD,
            "{type: object, additionalProperties: true}",
            &["safe .spec.a.b: the type string is now any"],
        ),
        (
            "{type: array, items: {type: array, items: {type: string}}}",
            "{type: array, items: {type: array, items: {type: integer}}}",
            &["breaks .spec.a[*][*]: the type string is now integer"],
        ),
        (
            "{type: object, additionalProperties: {type: array, items: {type: object, properties: {b: {type: string}}}}}",
            "{type: object, additionalProperties: {type: array, items: {type: object}}}",
            &["breaks .spec.a[*][*].b: the field is removed"],
        ),
    ]);
}

#[test]
fn alternatives_break_unless_they_accept_more() {
    assert_all(&[
        (
            "{type: object, oneOf: [{required: [x]}]}",
            "{type: object, oneOf: [{required: [x]}, {required: [y]}]}",
            &["safe .spec.a: oneOf accepts more"],
        ),
        (
            "{type: object, oneOf: [{required: [x]}, {required: [y]}]}",
            "{type: object, oneOf: [{required: [y]}]}",
            &["breaks .spec.a: oneOf is changed"],
        ),
        (
            "{type: object, allOf: [{required: [x]}]}",
            "{type: object, allOf: [{required: [x]}, {required: [y]}]}",
            &["breaks .spec.a: allOf is changed"],
        ),
        (
            "{type: object, allOf: [{required: [x]}, {required: [y]}]}",
            "{type: object, allOf: [{required: [x]}]}",
            &["safe .spec.a: allOf accepts more"],
        ),
        (
            "{type: object}",
            "{type: object, not: {required: [x]}}",
            &["breaks .spec.a: not is changed"],
        ),
    ]);
}

#[test]
fn fields_that_come_and_go_and_are_required() {
    let spec = |fields: &str, required: &str| {
        yaml(&format!("{{type: object, properties: {{{fields}}}, required: [{required}]}}"))
    };
    let (a, defaulted) = ("a: {type: string}", "a: {type: string, default: x}");
    let two = "a: {type: string}, b: {type: string}";
    for (old, new, expected) in [
        (spec(a, ""), spec("", ""), &["breaks .spec.a: the field is removed"][..]),
        (spec(a, ""), spec(two, ""), &["safe .spec.b: an optional field is added"]),
        (spec(a, ""), spec(two, "b"), &["breaks .spec.b: a required field is added"]),
        (
            spec(a, ""),
            spec("a: {type: string}, b: {type: string, default: x}", "b"),
            &["safe .spec.b: a field with a default is added"],
        ),
        (spec(a, ""), spec(a, "a"), &["breaks .spec.a: the field is required now"]),
        (
            spec(defaulted, ""),
            spec(defaulted, "a"),
            &["safe .spec.a: the field is required now, with a default"],
        ),
        (spec(a, "a"), spec(a, ""), &["safe .spec.a: the field is optional now"]),
        (spec(defaulted, "a"), spec(a, "a"), &["breaks .spec.a: the default \"x\" is removed"]),
        (
            spec(a, "a"),
            spec(defaulted, ""),
            &[
                "safe .spec.a: the default \"x\" is added",
                "safe .spec.a: the field is optional now",
            ],
        ),
    ] {
        assert_eq!(of_spec(&old, &new), expected, "{old} -> {new}");
    }
}

#[test]
fn a_field_of_a_status_was_only_a_report() {
    let with_status = |status: Value| {
        let mut crd = of(&json!({"type": "object"}));
        let schema = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        schema["properties"]["status"] = status;
        crd
    };
    let changes = between(
        &[with_status(with(&json!({"type": "string"})))],
        &[with_status(json!({"type": "object"}))],
    );
    assert_eq!(brief(&changes), ["needs-version .status.a: the field is removed"]);
}

#[test]
fn a_limit_in_a_list_without_keys_holds_when_the_list_changes() {
    let limited = |ty: &str, length: u8| {
        with(&json!({"type": "array", "x-kubernetes-list-type": ty,
            "items": {"type": "string", "maxLength": length}}))
    };
    let remedy = |ty| between(&[of(&limited(ty, 9))], &[of(&limited(ty, 3))])[0].remedy.clone();
    assert!(remedy("atomic").starts_with("a stored list"), "{}", remedy("atomic"));
    assert!(remedy("map").starts_with("a stored value"), "{}", remedy("map"));
}
