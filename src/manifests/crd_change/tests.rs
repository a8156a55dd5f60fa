//! Changes of CRDs, and what each means.

use serde_json::{Value, json};

use super::{
    Verdict::{self, Breaks, NeedsVersion, Safe},
    *,
};

fn version(name: &str, is_stored: bool, spec: &Value) -> Value {
    json!({
        "name": name, "served": true, "storage": is_stored, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    })
}

fn crd(versions: &[Value]) -> Value {
    json!({
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Shop", "plural": "shops", "singular": "shop", "shortNames": ["sh"]},
            "versions": versions,
        },
    })
}

/// A CRD of one version with this spec.
fn of(spec: &Value) -> Value {
    crd(&[version("v1", true, spec)])
}

/// A spec with one field.
fn with(field: &Value) -> Value {
    json!({"type": "object", "properties": {"a": field}})
}

fn brief(changes: &[CrdChange]) -> Vec<(Verdict, &str, &str)> {
    changes.iter().map(|it| (it.verdict, &*it.path, &*it.change)).collect()
}

#[test]
fn every_change_of_a_field_has_a_verdict_and_a_path() {
    let string = json!({"type": "string"});
    let list = |extra: Value| {
        let mut list = json!({"type": "array", "items": {"type": "object", "properties": {
            "k": {"type": "string"}, "l": {"type": "string"}}}});
        for (name, value) in extra.as_object().unwrap() {
            list[name] = value.clone();
        }
        list
    };
    let rules = |rules: &[&str]| {
        let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
        json!({"type": "string", "x-kubernetes-validations": rules})
    };
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let map = |entry: Value| json!({"type": "object", "additionalProperties": entry});
    let int_or_string = json!({"x-kubernetes-int-or-string": true,
        "anyOf": [{"type": "integer"}, {"type": "string"}]});
    let typed = |ty: &str| json!({"type": ty});
    let limited = |name: &str, limit: Value| json!({"type": "string", name: limit});
    for (old, new, expected) in [
        (string.clone(), string.clone(), &[][..]),
        (
            typed("integer"),
            string.clone(),
            &[(Breaks, ".spec.a", "the type integer is now string")],
        ),
        (typed("integer"), typed("number"), &[(Safe, ".spec.a", "the type integer is now number")]),
        (
            typed("number"),
            typed("integer"),
            &[(Breaks, ".spec.a", "the type number is now integer")],
        ),
        (
            typed("integer"),
            int_or_string.clone(),
            &[(Safe, ".spec.a", "the type integer is now int-or-string")],
        ),
        (
            int_or_string.clone(),
            string.clone(),
            &[(Breaks, ".spec.a", "the type int-or-string is now string")],
        ),
        (
            string.clone(),
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            &[
                (Safe, ".spec.a", "the type string is now any"),
                (Safe, ".spec.a", "fields that the schema does not know are kept now"),
            ],
        ),
        (
            limited("enum", json!(["x", "y"])),
            limited("enum", json!(["x", "z"])),
            &[
                (NeedsVersion, ".spec.a", "no longer valid: \"y\""),
                (Safe, ".spec.a", "also valid: \"z\""),
            ],
        ),
        (
            string.clone(),
            limited("enum", json!(["x"])),
            &[(NeedsVersion, ".spec.a", "only these values are valid now: \"x\"")],
        ),
        (
            limited("enum", json!(["x"])),
            string.clone(),
            &[(Safe, ".spec.a", "any value is valid now")],
        ),
        (
            limited("minLength", json!(1)),
            limited("minLength", json!(2)),
            &[(NeedsVersion, ".spec.a", "minLength 1 is now 2")],
        ),
        (string.clone(), limited("minLength", json!(0)), &[]),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "minimum": 0.0}),
            &[(NeedsVersion, ".spec.a", "minimum (none) is now 0.0")],
        ),
        (
            json!({"type": "integer", "maximum": 3}),
            json!({"type": "integer", "maximum": 9}),
            &[(Safe, ".spec.a", "maximum 3 is now 9")],
        ),
        (
            json!({"type": "integer", "maximum": 3}),
            json!({"type": "integer", "maximum": 3, "exclusiveMaximum": true}),
            &[(NeedsVersion, ".spec.a", "exclusiveMaximum (none) is now true")],
        ),
        (
            json!({"type": "integer", "multipleOf": 4}),
            json!({"type": "integer", "multipleOf": 2}),
            &[(Safe, ".spec.a", "multipleOf is changed")],
        ),
        (
            json!({"type": "integer", "multipleOf": 2}),
            json!({"type": "integer", "multipleOf": 4}),
            &[(NeedsVersion, ".spec.a", "multipleOf is changed")],
        ),
        (
            string.clone(),
            limited("pattern", json!("^x$")),
            &[(NeedsVersion, ".spec.a", "a pattern is added: ^x$")],
        ),
        (
            limited("pattern", json!("^x$")),
            limited("pattern", json!("^y$")),
            &[(NeedsVersion, ".spec.a", "the pattern ^x$ is now ^y$")],
        ),
        (
            limited("pattern", json!("^x$")),
            string.clone(),
            &[(Safe, ".spec.a", "the pattern is removed")],
        ),
        (
            string.clone(),
            limited("format", json!("date-time")),
            &[(NeedsVersion, ".spec.a", "the format none is now date-time")],
        ),
        (
            json!({"type": "integer", "format": "int64"}),
            json!({"type": "integer", "format": "int32"}),
            &[(NeedsVersion, ".spec.a", "the format int64 is now int32")],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!({"type": "integer", "format": "int64"}),
            &[(Safe, ".spec.a", "the format int32 is now int64")],
        ),
        (
            limited("nullable", json!(true)),
            string.clone(),
            &[(NeedsVersion, ".spec.a", "null is no longer valid")],
        ),
        (
            string.clone(),
            limited("nullable", json!(true)),
            &[(Safe, ".spec.a", "null is valid now")],
        ),
        (
            limited("default", json!("x")),
            string.clone(),
            &[(NeedsVersion, ".spec.a", "the default \"x\" is removed")],
        ),
        (
            limited("default", json!("x")),
            limited("default", json!("y")),
            &[(NeedsVersion, ".spec.a", "the default \"x\" is now \"y\"")],
        ),
        (
            string.clone(),
            limited("default", json!("x")),
            &[(Safe, ".spec.a", "the default \"x\" is added")],
        ),
        (
            rules(&[]),
            rules(&["self != ''"]),
            &[(NeedsVersion, ".spec.a", "a rule is added: `self != ''`")],
        ),
        (
            rules(&[]),
            rules(&["self == oldSelf"]),
            &[(NeedsVersion, ".spec.a", "a transition rule is added: `self == oldSelf`")],
        ),
        (rules(&["true"]), rules(&[]), &[(Safe, ".spec.a", "the rule `true` is removed")]),
        (
            rules(&["true"]),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": "m"}]}),
            &[(Safe, ".spec.a", "what the rule `true` says is changed")],
        ),
        (
            list(json!({})),
            list(json!({"x-kubernetes-list-type": "set"})),
            &[(Breaks, ".spec.a", "the list type atomic is now set")],
        ),
        (
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})),
            list(json!({})),
            &[(NeedsVersion, ".spec.a", "the list type map is now atomic")],
        ),
        (
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})),
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["l"]})),
            &[(Breaks, ".spec.a", "the keys k are now l")],
        ),
        (
            list(
                json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"]}),
            ),
            list(
                json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["l", "k"]}),
            ),
            &[],
        ),
        (
            open.clone(),
            json!({"type": "object", "x-kubernetes-map-type": "atomic",
                "x-kubernetes-preserve-unknown-fields": true}),
            &[(NeedsVersion, ".spec.a", "the map type granular is now atomic")],
        ),
        (
            open.clone(),
            typed("object"),
            &[(Breaks, ".spec.a", "fields that the schema does not know are no longer kept")],
        ),
        (
            typed("object"),
            open.clone(),
            &[(Safe, ".spec.a", "fields that the schema does not know are kept now")],
        ),
        (
            open.clone(),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-embedded-resource": true}),
            &[(Breaks, ".spec.a", "it must be a Kubernetes object now")],
        ),
        (
            open.clone(),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"b": {"type": "string"}}}),
            &[(NeedsVersion, ".spec.a.b", "the schema declares the field now")],
        ),
        (
            map(string.clone()),
            map(typed("integer")),
            &[(Breaks, ".spec.a[*]", "the type string is now integer")],
        ),
        (
            map(string.clone()),
            json!({"type": "object", "properties": {"b": {"type": "string"}}}),
            &[(Breaks, ".spec.a[*]", "entries of any name are no longer kept")],
        ),
        (with(&string), map(string.clone()), &[]),
        (
            with(&string),
            map(typed("integer")),
            &[(Breaks, ".spec.a.a", "the type string is now integer")],
        ),
        (with(&string), map(json!(true)), &[(Safe, ".spec.a.a", "the type string is now any")]),
        (
            json!({"type": "array", "items": {"type": "array", "items": string}}),
            json!({"type": "array", "items": {"type": "array", "items": typed("integer")}}),
            &[(Breaks, ".spec.a[*][*]", "the type string is now integer")],
        ),
        (
            map(json!({"type": "array", "items": with(&string)})),
            map(json!({"type": "array", "items": typed("object")})),
            &[(Breaks, ".spec.a[*][*].a", "the field is removed")],
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["x"]}]}),
            json!({"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            &[(Safe, ".spec.a", "oneOf accepts more")],
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            json!({"type": "object", "oneOf": [{"required": ["y"]}]}),
            &[(Breaks, ".spec.a", "oneOf is changed")],
        ),
        (
            json!({"type": "object", "allOf": [{"required": ["x"]}]}),
            json!({"type": "object", "allOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            &[(Breaks, ".spec.a", "allOf is changed")],
        ),
        (
            typed("object"),
            json!({"type": "object", "not": {"required": ["x"]}}),
            &[(Breaks, ".spec.a", "not is changed")],
        ),
    ] {
        let changes = between(&[of(&with(&old))], &[of(&with(&new))]);
        let mut expected = expected.to_vec();
        expected.sort_by_key(|(verdict, ..)| std::cmp::Reverse(*verdict));
        assert_eq!(brief(&changes), expected, "{old} -> {new}");
        assert!(changes.iter().all(|it| it.version.as_deref() == Some("v1")), "{changes:?}");
        assert!(changes.iter().all(|it| !it.remedy.is_empty()), "{changes:?}");
    }
}

#[test]
fn fields_that_come_and_go_and_are_required() {
    let fields = |fields: Value, required: &[&str]| json!({"type": "object", "properties": fields, "required": required});
    let (string, defaulted) =
        (json!({"type": "string"}), json!({"type": "string", "default": "x"}));
    let one = fields(json!({"a": string}), &[]);
    for (old, new, expected) in [
        (one.clone(), fields(json!({}), &[]), (Breaks, ".spec.a", "the field is removed")),
        (
            one.clone(),
            fields(json!({"a": string, "b": string}), &[]),
            (Safe, ".spec.b", "an optional field is added"),
        ),
        (
            one.clone(),
            fields(json!({"a": string, "b": string}), &["b"]),
            (Breaks, ".spec.b", "a required field is added"),
        ),
        (
            one.clone(),
            fields(json!({"a": string, "b": defaulted}), &["b"]),
            (Safe, ".spec.b", "a field with a default is added"),
        ),
        (
            one.clone(),
            fields(json!({"a": string}), &["a"]),
            (Breaks, ".spec.a", "the field is required now"),
        ),
        (
            fields(json!({"a": defaulted}), &[]),
            fields(json!({"a": defaulted}), &["a"]),
            (Safe, ".spec.a", "the field is required now, with a default"),
        ),
        (
            fields(json!({"a": string}), &["a"]),
            one.clone(),
            (Safe, ".spec.a", "the field is optional now"),
        ),
        (
            fields(json!({"a": defaulted}), &["a"]),
            fields(json!({"a": string}), &["a"]),
            (Breaks, ".spec.a", "the default \"x\" is removed"),
        ),
        (
            one.clone(),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            (Safe, ".spec.a", "the field is kept without validation"),
        ),
    ] {
        let changes = between(&[of(&old)], &[of(&new)]);
        assert!(brief(&changes).contains(&expected), "{old} -> {new}: {changes:?}");
        assert_eq!(changes[0].verdict, expected.0, "{changes:?}");
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
    assert_eq!(brief(&changes), [(NeedsVersion, ".status.a", "the field is removed")]);
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

/// Changes of what is beside the schema, by a path in the CRD.
#[test]
fn every_change_of_a_crd_has_a_verdict() {
    let base = || {
        let mut crd = of(&json!({"type": "object"}));
        let version = &mut crd["spec"]["versions"][0];
        version["subresources"]["scale"] = json!({"specReplicasPath": ".spec.a"});
        version["selectableFields"] = json!([{"jsonPath": ".spec.a"}]);
        crd
    };
    let names = |path: &str| format!("/spec/{path}");
    let version = |path: &str| format!("/spec/versions/0/{path}");
    for (path, value, expected) in [
        (names("group"), json!("x.com"), (Breaks, "spec.group")),
        (names("scope"), json!("Cluster"), (Breaks, "spec.scope")),
        (names("names/kind"), json!("Till"), (Breaks, "spec.names.kind")),
        (names("names/singular"), json!("store"), (Safe, "spec.names.singular")),
        (names("names/shortNames"), json!(null), (Safe, "spec.names.shortNames")),
        (version("served"), json!(false), (NeedsVersion, "served")),
        (version("deprecated"), json!(true), (Safe, "deprecated")),
        (
            version("subresources"),
            json!({"scale": {"specReplicasPath": ".spec.a"}}),
            (NeedsVersion, "subresources.status"),
        ),
        (version("subresources"), json!({"status": {}}), (NeedsVersion, "subresources.scale")),
        (
            version("subresources/scale/specReplicasPath"),
            json!(".spec.b"),
            (NeedsVersion, "subresources.scale"),
        ),
        (version("selectableFields"), json!([]), (NeedsVersion, ".spec.a")),
        (
            version("additionalPrinterColumns"),
            json!([{"name": "A"}]),
            (Safe, "additionalPrinterColumns"),
        ),
        (
            version("schema/openAPIV3Schema/properties/spec/description"),
            json!("d"),
            (Safe, "schema"),
        ),
    ] {
        let mut changed = base();
        let (parent, field) = path.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[field] = value;
        let changes = between(&[base()], &[changed]);
        let [change] = &changes[..] else { panic!("{path}: {changes:?}") };
        assert_eq!((change.verdict, &*change.path), expected, "{changes:?}");
    }
    assert_eq!(between(&[base()], &[base()]), []);
    let mut without_columns = base();
    without_columns["spec"]["versions"][0]["additionalPrinterColumns"] = json!([]);
    assert_eq!(between(&[base()], &[without_columns]), []);
}

#[test]
fn a_type_that_is_gone_or_new_or_of_another_name_is_said() {
    let shop = of(&json!({"type": "object"}));
    let mut other = shop.clone();
    other["metadata"]["name"] = json!("stores.example.com");
    let changes = between(&[shop.clone()], &[other]);
    assert_eq!(
        brief(&changes),
        [(Breaks, "", "the kind Shop is now stores.example.com"), (Safe, "", "the type is added")]
    );
    assert_eq!(brief(&between(&[shop], &[])), [(Breaks, "", "the type is removed")]);
}

fn versions(stored: &str, all: &[(&str, Value)]) -> Value {
    let all: Vec<Value> =
        all.iter().map(|(name, spec)| version(name, *name == stored, spec)).collect();
    crd(&all)
}

fn converted(mut crd: Value) -> Value {
    crd["spec"]["conversion"] = json!({"strategy": "Webhook"});
    crd
}

#[test]
fn versions_are_compared_one_by_one() {
    let (string, integer) = (with(&json!({"type": "string"})), with(&json!({"type": "integer"})));
    let old = converted(versions("v1", &[("v1", string.clone()), ("v1alpha1", string.clone())]));
    let new = converted(versions("v1", &[("v1alpha1", integer), ("v1", string)]));
    let changes = between(&[old], &[new]);
    assert_eq!(brief(&changes), [(Breaks, ".spec.a", "the type string is now integer")]);
    assert_eq!(changes[0].version.as_deref(), Some("v1alpha1"));
}

#[test]
fn a_version_may_be_removed_after_it_was_migrated_only() {
    let spec = json!({"type": "object"});
    let both = |stored| versions(stored, &[("v1", spec.clone()), ("v1alpha1", spec.clone())]);
    let one = || versions("v1", &[("v1", spec.clone())]);
    let removed = |old: Value| between(&[old], &[one()])[0].clone();
    let stored = removed(both("v1alpha1"));
    assert_eq!((stored.verdict, &*stored.change), (Breaks, "the version v1alpha1 is removed"));
    assert!(stored.remedy.contains("`migrate`"), "{}", stored.remedy);
    assert_eq!(removed(both("v1")).verdict, Breaks, "clients use it");
    let mut unserved = both("v1");
    unserved["spec"]["versions"][1]["served"] = json!(false);
    assert_eq!(removed(unserved).verdict, Safe);
    let switched = between(&[both("v1alpha1")], &[both("v1")]);
    assert_eq!(brief(&switched), [(Safe, "spec.versions", "v1 is stored instead of v1alpha1")]);
}

#[test]
fn without_a_conversion_a_version_that_is_added_must_hold_the_same() {
    let fields = |names: &[&str], required: &[&str]| {
        let fields = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"})));
        let fields: serde_json::Map<String, Value> = fields.collect();
        json!({"type": "object", "properties": fields, "required": required})
    };
    let old = versions("v1alpha1", &[("v1alpha1", fields(&["a", "b"], &[]))]);
    let both =
        |new: Value| versions("v1alpha1", &[("v1alpha1", fields(&["a", "b"], &[])), ("v1", new)]);
    let added = (Safe, "spec.versions", "the version v1 is added");
    let same = between(&[old.clone()], &[both(fields(&["a", "b"], &[]))]);
    assert_eq!(brief(&same), [added]);
    let changes = between(&[old.clone()], &[both(fields(&["b", "c"], &["b"]))]);
    assert_eq!(
        brief(&changes),
        [
            (
                Breaks,
                ".spec.a",
                "objects of v1alpha1 lose it when they are written as v1, without a conversion"
            ),
            (
                Breaks,
                ".spec.b",
                "objects of v1alpha1 do not fit, without a conversion: the field is required now"
            ),
            (Breaks, ".spec.c", "v1alpha1, which is stored, cannot hold it, without a conversion"),
            added,
        ]
    );
    let converts = between(&[old], &[converted(both(fields(&["b", "c"], &["b"])))]);
    assert_eq!(
        brief(&converts),
        [(Safe, "spec.conversion", "the program converts the versions"), added]
    );
}

#[test]
fn a_conversion_that_ends_while_there_are_versions_loses_fields() {
    let spec = json!({"type": "object"});
    let both = versions("v1", &[("v1", spec.clone()), ("v1alpha1", spec.clone())]);
    let changes = between(&[converted(both.clone())], &[both]);
    assert_eq!(
        brief(&changes),
        [(Breaks, "spec.conversion", "the versions are no longer converted")]
    );
}
