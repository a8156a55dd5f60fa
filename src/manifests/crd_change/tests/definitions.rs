//! Changes beside the schema, and of several versions.

use std::slice;

use super::*;

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
        let mut other = base();
        let (parent, field) = path.rsplit_once('/').unwrap();
        other.pointer_mut(parent).unwrap()[field] = value;
        let changes = between(&[base()], &[other]);
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
    let changes = between(slice::from_ref(&shop), &[other]);
    assert_eq!(
        brief(&changes),
        ["breaks : the kind Shop is now stores.example.com", "safe : the type is added"]
    );
    assert_eq!(brief(&between(&[shop], &[])), ["breaks : the type is removed"]);
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
    assert_eq!(brief(&changes), ["breaks .spec.a: the type string is now integer"]);
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
    assert_eq!(brief(&switched), ["safe spec.versions: v1 is stored instead of v1alpha1"]);
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
    let added = "safe spec.versions: the version v1 is added";
    let same = between(slice::from_ref(&old), &[both(fields(&["a", "b"], &[]))]);
    assert_eq!(brief(&same), [added]);
    let changes = between(slice::from_ref(&old), &[both(fields(&["b", "c"], &["b"]))]);
    assert_eq!(
        brief(&changes),
        [
            "breaks .spec.a: objects of v1alpha1 lose it when they are written as v1, without a conversion",
            "breaks .spec.b: objects of v1alpha1 do not fit, without a conversion: the field is required now",
            "breaks .spec.c: v1alpha1, which is stored, cannot hold it, without a conversion",
            added,
        ]
    );
    let converts = between(&[old], &[converted(both(fields(&["b", "c"], &["b"])))]);
    assert_eq!(
        brief(&converts),
        ["safe spec.conversion: the program converts the versions", added]
    );
}

#[test]
fn a_conversion_that_ends_while_there_are_versions_loses_fields() {
    let spec = json!({"type": "object"});
    let both = versions("v1", &[("v1", spec.clone()), ("v1alpha1", spec.clone())]);
    let changes = between(&[converted(both.clone())], &[both]);
    assert_eq!(brief(&changes), ["breaks spec.conversion: the versions are no longer converted"]);
}
