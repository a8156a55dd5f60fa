//! Transfers fields of a child that others own to our server-side apply: those of a predecessor of
//! the operator, or of the managers of an object that is adopted. An apply removes only fields of
//! its own manager: without the transfer those of a predecessor would stay for ever.

use serde_json::{Map, Value, json};

use crate::{
    object::Object,
    operator::{OperatorName, Predecessor},
};

pub(crate) fn has_predecessor(child: &Object, predecessor: &Predecessor) -> bool {
    predecessor.field_managers.iter().any(|manager| child.is_updated_by(manager))
}

/// The JSON merge patch after which our apply owns what the predecessor owned; `None` when it owns
/// nothing. `live` is the object as the server has it: no other entry may be missing in it. The
/// patch carries its version.
pub(crate) fn takeover(
    live: &Value,
    operator: &OperatorName,
    predecessor: &Predecessor,
) -> Option<Value> {
    let is_from = |entry: &Value| {
        let manager = entry["manager"].as_str().unwrap_or_default();
        is_of_object(entry, live, "Update")
            && predecessor.field_managers.iter().any(|old| old == manager)
    };
    hand_over(live, operator, is_from, |fields| (fields.clone(), json!({})))
}

/// The same for all managers of an adopted object, except Kubernetes itself: nobody desires the fields that
/// Kubernetes fills in (the volume of a claim), and an apply could not remove them.
/// Finalizers and owner references stay with their managers: they protect objects of others.
pub(crate) fn adoption(live: &Value, operator: &OperatorName) -> Option<Value> {
    let is_from = |entry: &Value| {
        let is_of_object =
            is_of_object(entry, live, "Update") || is_of_object(entry, live, "Apply");
        is_of_object && is_handed_over(entry["manager"].as_str().unwrap_or_default())
    };
    hand_over(live, operator, is_from, |fields| {
        divided(fields, &["f:finalizers", "f:ownerReferences"])
    })
}

/// Whether the fields of a manager become ours when an object is adopted.
pub(crate) fn is_handed_over(manager: &str) -> bool {
    !is_kubernetes(manager)
}

/// Whether a field manager is a part of Kubernetes, or a distribution of it in one program. Others
/// have names like theirs (`kube-green`).
fn is_kubernetes(manager: &str) -> bool {
    const PARTS: [&str; 9] = [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
        "kubelet",
        "cloud-controller-manager",
        "k0s",
        "k3s",
        "rke2",
    ];
    PARTS.contains(&manager)
}

/// The patch after which our apply owns those fields of others that `divide` returns first; the
/// second ones stay with them.
pub(crate) fn hand_over(
    live: &Value,
    operator: &OperatorName,
    is_from: impl Fn(&Value) -> bool,
    divide: impl Fn(&Value) -> (Value, Value),
) -> Option<Value> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let is_ours = |entry: &&Value| {
        entry["manager"] == operator.as_str() && is_of_object(entry, live, "Apply")
    };
    let (ours, all): (Vec<_>, Vec<_>) = entries.iter().partition(is_ours);
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for entry in all {
        if is_from(entry) {
            let (given, left) = divide(&entry["fieldsV1"]);
            taken.extend(with_fields(entry, given));
            others.extend(with_fields(entry, left));
        } else {
            others.push(entry.clone());
        }
    }
    let all_ours = || ours.iter().copied().chain(&taken);
    let mut united = taken.first()?.clone();
    united["manager"] = json!(operator.as_str());
    united["operation"] = json!("Apply");
    let fields = all_ours().map(|entry| entry["fieldsV1"].clone());
    united["fieldsV1"] = fields.reduce(|a, b| union(&a, &b))?;
    let managed: Vec<_> = std::iter::once(united).chain(others).collect();
    let (uid, version) = (&live["metadata"]["uid"], &live["metadata"]["resourceVersion"]);
    let metadata = json!({"uid": uid, "resourceVersion": version, "managedFields": managed});
    Some(json!({"metadata": metadata}))
}

/// The paths that are transferred, and those of the metadata that stay with their managers.
fn divided(fields: &Value, stays: &[&str]) -> (Value, Value) {
    let mut given = fields.as_object().cloned().unwrap_or_default();
    let mut left = Map::new();
    if let Some(metadata) = given.get_mut("f:metadata").and_then(Value::as_object_mut) {
        left.extend(stays.iter().filter_map(|name| metadata.remove_entry(*name)));
        // Without members it would mean all of the metadata.
        if metadata.is_empty() {
            given.remove("f:metadata");
        }
    }
    let left = if left.is_empty() { json!({}) } else { json!({"f:metadata": left}) };
    (Value::Object(given), left)
}

fn with_fields(entry: &Value, fields: Value) -> Option<Value> {
    let is_empty = fields.as_object().is_none_or(Map::is_empty);
    let mut entry = entry.clone();
    entry["fieldsV1"] = fields;
    (!is_empty).then_some(entry)
}

/// Whether an entry is about the object itself, in the version in which it was read: paths of
/// other versions may mean something else.
pub(crate) fn is_of_object(entry: &Value, live: &Value, operation: &str) -> bool {
    entry["operation"] == operation
        && entry["apiVersion"] == live["apiVersion"]
        && entry.get("subresource").is_none_or(|name| name == "")
}

/// The paths of both. A node without members is a path itself; `.` marks one with members.
pub(crate) fn union(a: &Value, b: &Value) -> Value {
    let none = Map::new();
    let (a, b) = (a.as_object().unwrap_or(&none), b.as_object().unwrap_or(&none));
    let mut paths = a.clone();
    for (name, node) in b {
        let both = paths.get(name).map_or_else(|| node.clone(), |own| union(own, node));
        paths.insert(name.clone(), both);
    }
    if a.is_empty() != b.is_empty() {
        paths.insert(".".to_owned(), json!({}));
    }
    Value::Object(paths)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    }

    fn taken_over(entries: &[Value]) -> Option<Value> {
        let live = json!({
            "apiVersion": "v1",
            "metadata": {"uid": "u", "resourceVersion": "7", "managedFields": entries},
        });
        let predecessor = Predecessor { field_managers: vec!["old".to_owned()], ..<_>::default() };
        let patch = takeover(&live, &OperatorName::new("op").unwrap(), &predecessor)?;
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        Some(patch["metadata"]["managedFields"].clone())
    }

    #[test]
    fn the_entry_of_a_predecessor_becomes_ours_and_others_stay() {
        let fields = json!({"f:data": {".": {}, "f:a": {}}});
        let (old, kubectl) = (entry("old", "Update", &fields), entry("kubectl", "Update", &fields));
        let expected = json!([entry("op", "Apply", &fields), kubectl]);
        assert_eq!(taken_over(&[kubectl, old]), Some(expected));
    }

    #[test]
    fn adoption_takes_everything_but_what_kubernetes_filled_in() {
        let fields = json!({"f:data": {"f:a": {}}});
        let kubernetes = entry("kube-controller-manager", "Update", &json!({"f:spec": {}}));
        let mut status = entry("kubectl", "Update", &json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let live = json!({"apiVersion": "v1", "metadata": {
            "uid": "u", "resourceVersion": "7",
            "managedFields": [
                entry("kubectl", "Update", &fields), kubernetes, status,
                entry("kube-green", "Apply", &json!({"f:data": {"f:b": {}}})),
            ],
        }});
        let patch = adoption(&live, &OperatorName::new("op").unwrap()).unwrap();
        let united = json!({"f:data": {"f:a": {}, "f:b": {}}});
        let expected = json!([entry("op", "Apply", &united), kubernetes, status]);
        assert_eq!(patch["metadata"]["managedFields"], expected);
        assert_eq!(
            (&patch["metadata"]["uid"], &patch["metadata"]["resourceVersion"]),
            (&json!("u"), &json!("7"))
        );
    }

    #[test]
    fn finalizers_and_owner_references_stay_with_their_managers() {
        let protected = json!({
            "f:metadata": {"f:finalizers": {"v:\"a/b\"": {}}, "f:labels": {"f:l": {}}},
            "f:data": {"f:a": {}},
        });
        let owner = json!({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"x\"}": {}}}});
        let adopted = |entries: &[Value]| {
            let live = json!({"apiVersion": "v1", "metadata": {"managedFields": entries}});
            let patch = adoption(&live, &OperatorName::new("op").unwrap());
            patch.map(|patch| patch["metadata"]["managedFields"].clone())
        };
        let keeps = |manager: &str, fields: &Value| entry(manager, "Update", fields);
        let expected = json!([
            entry(
                "op",
                "Apply",
                &json!({
                    "f:metadata": {"f:labels": {"f:l": {}}}, "f:data": {"f:a": {}},
                })
            ),
            keeps("snapshots", &json!({"f:metadata": {"f:finalizers": {"v:\"a/b\"": {}}}})),
            keeps("owner", &owner),
        ]);
        let entries = [keeps("snapshots", &protected), keeps("owner", &owner)];
        assert_eq!(adopted(&entries), Some(expected));
        assert_eq!(adopted(&[keeps("owner", &owner)]), None);
    }

    #[test]
    fn the_fields_of_both_managers_are_united() {
        let old = json!({"f:data": {".": {}, "f:a": {}}, "f:spec": {"f:x": {}}, "f:y": {}});
        let ours = json!({"f:data": {"f:b": {}}, "f:spec": {"f:x": {"f:z": {}}}});
        let united = json!({
            "f:data": {".": {}, "f:a": {}, "f:b": {}},
            "f:spec": {"f:x": {".": {}, "f:z": {}}},
            "f:y": {},
        });
        let entries = [entry("op", "Apply", &ours), entry("old", "Update", &old)];
        assert_eq!(taken_over(&entries), Some(json!([entry("op", "Apply", &united)])));
    }

    #[test]
    fn without_an_entry_of_a_predecessor_there_is_nothing_to_take_over() {
        let mut status = entry("old", "Update", &json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let mut other_version = entry("old", "Update", &json!({"f:spec": {}}));
        other_version["apiVersion"] = json!("v2");
        for entry in [
            entry("op", "Apply", &json!({"f:data": {}})),
            entry("old", "Apply", &json!({"f:data": {}})),
            entry("kubectl", "Update", &json!({"f:data": {}})),
            status,
            other_version,
        ] {
            assert_eq!(taken_over(&[entry]), None);
        }
        assert_eq!(taken_over(&[]), None);
    }
}
