//! The graph of a parent.

use serde_json::{json, to_value};

use super::*;
use crate::{history::Decided, web::tree::ReadinessView};

fn ty(kind: &str) -> K8sType {
    let plural = format!("{}s", kind.to_lowercase());
    match kind {
        "Shop" => K8sType::namespaced("example.com/v1", kind, &plural),
        "Deployment" | "StatefulSet" => K8sType::namespaced("apps/v1", kind, &plural),
        _ => K8sType::namespaced("v1", kind, &plural),
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("ns", name)
}

fn child(kind: &str, name: &str, children: Vec<Node>) -> Node {
    Node {
        ty: (&ty(kind)).into(),
        key: (&key(name)).into(),
        facts: None,
        readiness: ReadinessView { state: "Progressing", message: format!("{name} begins") },
        decision: None,
        preview: None,
        children,
    }
}

fn metadata(name: &str) -> Value {
    json!({"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "resourceVersion": "1"})
}

/// A Pod that runs, with a volume for each claim.
fn pod(name: &str, claims: &[&str]) -> Value {
    let volumes: Vec<Value> =
        claims.iter().map(|claim| json!({"persistentVolumeClaim": {"claimName": claim}})).collect();
    json!({
        "metadata": metadata(name),
        "spec": {"containers": [{"name": "main"}], "volumes": volumes},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn claim(name: &str) -> Value {
    json!({"metadata": metadata(name), "spec": {}, "status": {"phase": "Pending"}})
}

fn beneath(of: &Node, pods: Vec<Value>, claims: Vec<Value>) -> Dependants {
    let of = ChildId { ty: of.ty.k8s_type(), key: key(&of.key.name) };
    let errors = vec!["events cannot be read".to_owned()];
    Dependants { of, pods, claims, warnings: Vec::new(), errors }
}

fn map(children: Vec<Node>, dependants: Vec<Dependants>, related: Vec<ShownRead>) -> Map {
    graph(Sources {
        ty: &ty("Shop"),
        key: &key("p"),
        phase: ParentPhase::Waiting,
        rollout: Some("1 of 3 updated".to_owned()),
        children,
        omitted: 2,
        related,
        dependants,
        shown: &|text| text.replace("hidden", "***"),
    })
}

/// `from relation to`
fn edges(map: &Map) -> Vec<String> {
    let edge = |edge: &Edge| {
        let relation = to_value(edge.relation).unwrap();
        format!("{} {} {}", edge.from, relation.as_str().unwrap(), edge.to)
    };
    map.edges.iter().map(edge).collect()
}

#[test]
fn pods_hang_from_their_workload_and_claims_from_the_pod_that_mounts_them() {
    let dependants = beneath(
        &child("StatefulSet", "db", Vec::new()),
        vec![pod("db-0", &["data-db-0", "shared"]), pod("db-1", &["shared"])],
        vec![claim("data-db-0"), claim("shared")],
    );
    let map = map(vec![child("StatefulSet", "db", Vec::new())], vec![dependants], Vec::new());
    assert_eq!(
        edges(&map),
        [
            "shops.example.com/ns/p owns statefulsets.apps/ns/db",
            "statefulsets.apps/ns/db owns pods/ns/db-0",
            "pods/ns/db-0 owns persistentvolumeclaims/ns/data-db-0",
            "pods/ns/db-0 owns persistentvolumeclaims/ns/shared",
            "statefulsets.apps/ns/db owns pods/ns/db-1",
            "pods/ns/db-1 mounts persistentvolumeclaims/ns/shared",
        ]
    );
    let states: Vec<_> = map.nodes.iter().map(|node| node.state).collect();
    assert_eq!(states, ["waiting", "Progressing", "Ready", "Progressing", "Progressing", "Ready"]);
    assert_eq!(map.nodes[0].message, "1 of 3 updated");
    assert_eq!(map.nodes[2].logs, ["kubectl logs db-0 -c main -n ns"]);
    assert_eq!((map.omitted, map.errors), (2, vec!["events cannot be read".to_owned()]));
}

#[test]
fn an_object_that_is_cached_is_not_drawn_twice() {
    let cached = vec![child("Pod", "web-0", Vec::new())];
    let of = child("Deployment", "web", Vec::new());
    let dependants = beneath(&of, vec![pod("web-0", &[]), pod("web-1", &[])], Vec::new());
    let map = map(vec![child("Deployment", "web", cached)], vec![dependants], Vec::new());
    let ids: Vec<_> = map.nodes[2..].iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["pods/ns/web-0", "pods/ns/web-1"]);
    assert_eq!(map.edges.len(), 3);
    assert_eq!(map.nodes[2].role, Role::Child);
    assert_eq!(map.nodes[2].logs, ["kubectl logs web-0 -c main -n ns"], "of the Pod that was read");
}

#[test]
fn a_pod_that_is_a_child_has_its_claims() {
    let dependants = beneath(&child("Pod", "p", Vec::new()), Vec::new(), vec![claim("data")]);
    let map = map(vec![child("Pod", "p", Vec::new())], vec![dependants], Vec::new());
    assert_eq!(edges(&map)[1], "pods/ns/p owns persistentvolumeclaims/ns/data");
}

#[test]
fn a_child_has_its_decision_and_who_wrote_it_and_one_that_is_missing_is_shown() {
    let waits = Decision::stuck("ConfigMap.v1 ns/c", Decided::Waiting, "for b".to_owned());
    let node = Node { decision: Some(waits), ..child("ConfigMap", "c", Vec::new()) };
    let map = map(vec![node], Vec::new(), Vec::new());
    let node = to_value(&map.nodes[1]).unwrap();
    assert_eq!(node["decision"]["decision"], "Waiting");
    assert_eq!((&node["id"], &node["role"]), (&json!("configmaps/ns/c"), &json!("child")));
    assert_eq!(node.get("uid"), None, "it does not exist");
}

#[test]
fn related_objects_say_how_many_were_found_or_why_they_cannot_be_read() {
    let read = |which: &str, found, problem: Option<&str>| ShownRead {
        ty: ty("ConfigMap"),
        which: which.to_owned(),
        found,
        problem: problem.map(str::to_owned),
    };
    let related = vec![
        read("ns/theme", Some(1), None),
        read("ns/absent", Some(0), None),
        read("example.com/app=web in namespace ns", Some(7), None),
        read("ns/new", None, None),
        read("ns/denied", None, Some("forbidden: hidden")),
    ];
    let map = map(Vec::new(), Vec::new(), related);
    let shown: Vec<_> = map.nodes[1..].iter().map(|it| (it.state, it.message.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("Exists", ""),
            ("Missing", "it does not exist"),
            ("Selection", "7 found"),
            ("Progressing", "being listed"),
            ("Failed", "forbidden: ***"),
        ]
    );
    let names: Vec<_> = map.nodes[1..].iter().map(|it| it.key.to_string()).collect();
    assert_eq!(names[..2], ["ns/theme", "ns/absent"]);
    assert_eq!(
        (names[2].as_str(), &map.nodes[3].key.namespace),
        ("example.com/app=web in namespace ns", &None)
    );
    assert!(edges(&map).iter().all(|edge| edge.starts_with("shops.example.com/ns/p reads ")));
}
