//! The tree of the children of a parent.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::*;
use crate::{
    history::{Decided, Outcome, Verb, WriteRecord},
    object::{K8sType, KeptManagers, ResourceVersion},
    operator::{ChildConfig, OperatorConfig},
    store::Store,
};

fn ty(kind: &str) -> K8sType {
    let api_version = if kind == "Pod" { "v1" } else { "apps/v1" };
    K8sType::namespaced(api_version, kind, &format!("{}s", kind.to_lowercase()))
}

fn object(kind: &str, name: &str, owner: &str) -> Object {
    let value = json!({"metadata": {
        "name": name, "namespace": "ns", "uid": name, "resourceVersion": "1",
        "labels": {"operetta.dev/parent-uid": "p"},
        "ownerReferences": [{"uid": owner, "controller": true}],
    }});
    Object::from_value(&ty(kind), &value, &KeptManagers::default()).unwrap()
}

fn cache(kind: &str, objects: Vec<Object>) -> StoreReader {
    let store = Store::new(ty(kind), BTreeSet::from(["operetta.dev/parent-uid".to_owned()]));
    let scope = store.add_scope(None);
    let start = store.begin_list(scope);
    let _ = store.replace(scope, start, objects, &ResourceVersion::new("1"));
    store.reader()
}

fn info() -> OperatorInfo {
    let config = OperatorConfig::new("op", ty("App"))
        .child_of_type(ty("Deployment"), ChildConfig::apply())
        .child_of_type(ty("Pod"), ChildConfig::apply());
    let name = config.operator_name().unwrap();
    OperatorInfo { name, config, has_finalizer: false }
}

fn shown(caches: &[StoreReader], last_reconcile: Option<&Reconcile>) -> (Value, Tree) {
    let parent = object("App", "p", "nobody");
    let redact = |_: &Object, text: &str| text.to_owned();
    let roots = Roots { info: &info(), parent: &parent, caches, last_reconcile, redact: &redact };
    let tree = tree(&roots, HashMap::new());
    (serde_json::to_value(&tree.nodes).unwrap(), tree)
}

#[test]
fn objects_owned_by_a_child_are_shown_beneath_it_whatever_their_labels() {
    let caches = [
        cache("Deployment", vec![object("Deployment", "d", "p")]),
        cache("ReplicaSet", vec![object("ReplicaSet", "rs", "d")]),
        // The pods are also a child type, and carry the label of the parent.
        cache("Pod", vec![object("Pod", "below", "rs"), object("Pod", "own", "p")]),
    ];
    let (shown, _) = shown(&caches, None);
    assert_eq!([&shown[0]["name"], &shown[1]["name"]], ["d", "own"]);
    let replicas = &shown[0]["children"][0];
    assert_eq!([&replicas["kind"], &replicas["children"][0]["name"]], ["ReplicaSet", "below"]);
    assert_eq!(shown[0]["readiness"]["state"], "Progressing");
    assert_eq!([&shown[1]["owned"], &replicas["owned"]], [true, true]);
}

#[test]
fn a_missing_child_is_shown_with_the_decision_about_it() {
    let stuck = |name: &str, what, why: &str| {
        Decision::stuck(format!("Pod.v1 ns/{name}"), what, why.to_owned())
    };
    let write = |name: &str, verb| {
        let (child, paths) = (format!("Pod.v1 ns/{name}"), Vec::new());
        Decision::from(WriteRecord { child, verb, paths, drift: None })
    };
    let mut reconcile =
        Reconcile::new(std::time::SystemTime::UNIX_EPOCH, <_>::default(), Outcome::Waiting);
    reconcile.decisions = Arc::new([
        stuck("there", Decided::Held, "a pause"),
        stuck("away", Decided::Conflict, "exists and is not ours"),
        write("gone", Verb::Deleted),
        Decision::stuck("Widget.v1 ns/odd", Decided::Refused, "no such type".to_owned()),
    ]);
    let caches = [cache("Pod", vec![object("Pod", "there", "p"), object("Pod", "fine", "p")])];
    let (shown, _) = shown(&caches, Some(&reconcile));
    let names: Vec<_> = shown.as_array().unwrap().iter().map(|node| &node["name"]).collect();
    assert_eq!(names, ["fine", "there", "away"]);
    assert_eq!(shown[0].get("decision"), None);
    assert_eq!(shown[1]["decision"]["why"], "a pause");
    assert_eq!(shown[2]["readiness"]["state"], "Missing");
    assert_eq!(shown[2]["decision"]["decision"], "Conflict");
    assert_eq!(shown[2].get("uid"), None);
}

#[test]
fn cycles_of_owners_and_many_children_are_limited() {
    let cycle = [
        cache("Deployment", vec![object("Deployment", "a", "p")]),
        cache("ReplicaSet", vec![object("ReplicaSet", "b", "a")]),
        cache("App", vec![object("App", "p", "b")]),
    ];
    let (shown_cycle, _) = shown(&cycle, None);
    assert_eq!(shown_cycle[0]["children"][0].get("children"), None, "{shown_cycle:#}");
    let many = (0..MAX_NODES + 7).map(|number| object("Pod", &format!("{number:05}"), "p"));
    let (_, tree) = shown(&[cache("Pod", many.collect())], None);
    assert_eq!((tree.nodes.len(), tree.omitted), (MAX_NODES, 7));
}
