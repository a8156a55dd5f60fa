//! Handing what others own of a child over to our server-side apply: a predecessor of the operator,
//! or those who managed an object before it was adopted. An apply removes only
//! what its own manager owned before: without this, what a predecessor set would stay for ever.

use serde_json::{Map, Value, json};

use crate::{
    object::Object,
    operator::{OperatorName, Predecessor},
};

/// Whether a predecessor owns something of a child.
pub fn has_predecessor(child: &Object, predecessor: &Predecessor) -> bool {
    predecessor.field_managers.iter().any(|manager| child.is_updated_by(manager))
}

/// The JSON merge patch after which our apply owns what the predecessor owned; `None` when it owns
/// nothing. `live` is the object as the server has it: no other entry may be missing in it. The
/// patch carries its version.
pub fn takeover(live: &Value, operator: &OperatorName, predecessor: &Predecessor) -> Option<Value> {
    hand_over(live, operator, |entry| {
        let manager = entry["manager"].as_str().unwrap_or_default();
        is_of_object(entry, live, "Update")
            && predecessor.field_managers.iter().any(|old| old == manager)
    })
}

/// The same for all who managed an object that is adopted, but for Kubernetes itself: what that
/// fills in (the volume of a claim) is nobody's wish, and could not be removed.
pub fn adoption(live: &Value, operator: &OperatorName) -> Option<Value> {
    hand_over(live, operator, |entry| {
        let is_of_object =
            is_of_object(entry, live, "Update") || is_of_object(entry, live, "Apply");
        is_of_object && is_handed_over(entry["manager"].as_str().unwrap_or_default())
    })
}

/// Whether what a field manager owns of an object itself becomes ours when it is adopted.
pub fn is_handed_over(manager: &str) -> bool {
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

fn hand_over(
    live: &Value,
    operator: &OperatorName,
    is_from: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let is_ours = |entry: &&Value| {
        entry["manager"] == operator.as_str() && is_of_object(entry, live, "Apply")
    };
    let is_old = |entry: &&Value| !is_ours(entry) && is_from(entry);
    let mut taken = entries.iter().filter(|entry| is_old(entry) || is_ours(entry));
    entries.iter().find(is_old)?;
    let mut ours = taken.next()?.clone();
    ours["manager"] = json!(operator.as_str());
    ours["operation"] = json!("Apply");
    for entry in taken {
        ours["fieldsV1"] = union(&ours["fieldsV1"], &entry["fieldsV1"]);
    }
    let others = entries.iter().filter(|entry| !is_old(entry) && !is_ours(entry));
    let managed: Vec<_> = std::iter::once(ours).chain(others.cloned()).collect();
    let (uid, version) = (&live["metadata"]["uid"], &live["metadata"]["resourceVersion"]);
    let metadata = json!({"uid": uid, "resourceVersion": version, "managedFields": managed});
    Some(json!({"metadata": metadata}))
}

/// Whether an entry is about the object itself, in the version in which it was read: paths of
/// other versions may mean something else.
fn is_of_object(entry: &Value, live: &Value, operation: &str) -> bool {
    entry["operation"] == operation
        && entry["apiVersion"] == live["apiVersion"]
        && entry.get("subresource").is_none_or(|name| name == "")
}

/// The paths of both. A node without members is a path itself, `.` says so where there are more.
fn union(a: &Value, b: &Value) -> Value {
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
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
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
    fn who_adopts_gets_everything_but_what_kubernetes_filled_in() {
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
    fn what_both_own_is_united() {
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
