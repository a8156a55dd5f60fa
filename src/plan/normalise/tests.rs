mod refused;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use serde_json::json;

use super::*;
use crate::{
    object::KeptManagers,
    operator::{ChildConfig, ChildType},
};

fn parent(namespace: Option<&str>) -> Object {
    let ty = match namespace {
        Some(_) => K8sType::namespaced("example.com/v1", "App", "apps"),
        None => K8sType::cluster_scoped("example.com/v1", "App", "apps"),
    };
    let value = json!({"metadata": {
        "name": "app", "namespace": namespace, "uid": "p1", "resourceVersion": "5",
    }});
    Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
}

fn operator() -> OperatorName {
    OperatorName::new("op").unwrap()
}

fn normalised(parent: &Object, desired: Vec<Value>) -> Result<Vec<Write>, Vec<Refusal>> {
    let mut config = OperatorConfig::new("op", parent.ty().clone());
    let types = [
        K8sType::of::<ConfigMap>(),
        K8sType::of::<Secret>(),
        K8sType::of::<Namespace>(),
        K8sType::namespaced("example.com/v1", "App", "apps"),
        K8sType::namespaced("example.com/v2", "App", "apps"),
    ];
    let child = |ty| ChildType { ty, config: ChildConfig::apply() };
    config.children = types.into_iter().map(child).collect();
    let operator = operator();
    let desired: Vec<_> = desired.into_iter().map(DesiredChild::from).collect();
    let owner = Owner { config: &config, operator: &operator, parent };
    normalise(owner, desired.into()).map(|(writes, _)| writes)
}

fn config_map(metadata: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

fn refusal(namespace: Option<&str>, child: Value) -> String {
    let refusals = normalised(&parent(namespace), vec![child]).unwrap_err();
    assert_eq!(refusals.len(), 1);
    refusals[0].to_string()
}

fn one(namespace: Option<&str>, child: Value) -> Write {
    normalised(&parent(namespace), vec![child]).unwrap().remove(0)
}

#[test]
fn a_child_gets_a_namespace_labels_and_an_owner() {
    let write = one(Some("ns"), config_map(&json!({"name": "a", "labels": {"x": "y"}})));
    assert_eq!(write.id.to_string(), "ConfigMap.v1 ns/a");
    assert_eq!(
        write.body["metadata"],
        json!({
            "name": "a", "namespace": "ns",
            "labels": {
                "x": "y", "operetta.dev/parent-uid": "p1", "app.kubernetes.io/managed-by": "op",
            },
            "ownerReferences": [{
                "apiVersion": "example.com/v1", "kind": "App", "name": "app", "uid": "p1",
                "controller": true, "blockOwnerDeletion": true,
            }],
        })
    );
}

#[test]
fn other_values_of_our_labels_are_refused_and_labels_of_the_handler_stay() {
    let labelled = |labels: Value| {
        let child = config_map(&json!({"name": "a", "labels": labels}));
        normalised(&parent(Some("ns")), vec![child]).map_err(|whys| whys[0].to_string())
    };
    for (labels, words) in [
        (json!({"app.kubernetes.io/managed-by": "Helm"}), "`app.kubernetes.io/managed-by`"),
        (json!({"operetta.dev/parent-uid": "p2"}), "`operetta.dev/parent-uid`"),
        (json!({"operetta.dev/orphan-on-delete": "true"}), "`.orphan_on_delete()`"),
    ] {
        let why = labelled(labels).unwrap_err();
        assert!(why.contains(words) && why.contains("remove it"), "{why}");
    }
    let ours = json!({"app.kubernetes.io/managed-by": "op", "operetta.dev/parent-uid": "p1"});
    assert!(labelled(ours).is_ok(), "a child as it was observed");
    let own = labelled(json!({"operetta.dev/team": "a"})).unwrap().remove(0);
    assert_eq!(own.body["metadata"]["labels"]["operetta.dev/team"], "a");
}

#[test]
fn nulls_an_empty_status_and_string_data_are_normalised() {
    let write = one(
        Some("ns"),
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": null,
            "metadata": {"name": "a", "creationTimestamp": null, "annotations": {"x": null}},
            "data": {"a": "b2xk", "b": "Yg=="}, "stringData": {"a": "new"},
            "status": {"loadBalancer": {}},
        }),
    );
    assert_eq!(write.body["data"], json!({"a": "bmV3", "b": "Yg=="}));
    assert_eq!(write.body["metadata"]["annotations"], json!({}));
    for removed in ["stringData", "status", "type"] {
        assert_eq!(write.body.get(removed), None, "{removed}");
    }
    assert!(!format!("{write:?}").contains("bmV3"));
}

/// Otherwise the server would refuse and quote it.
#[test]
fn invalid_data_of_a_secret_is_refused_without_quoting_it() {
    for data in [json!("s3cret"), json!({"k": 7_357}), json!({"k": {"password": "s3cret"}})] {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
            "data": data});
        assert_eq!(refusal(Some("ns"), secret), "Secret.v1 ns/a: `data` has the wrong JSON type");
    }
}

#[test]
fn a_bad_child_is_refused_with_its_name_and_the_reason() {
    for (child, message) in [
        (
            json!(1),
            "child 1 of the response: it is not a JSON object: return a list, or an `Option`, by `.children(..)`",
        ),
        (json!({"kind": "X"}), "child 1 of the response (X): `apiVersion` is missing"),
        (config_map(&json!({})), "child 1 of the response (ConfigMap): `metadata.name` is missing"),
        (
            config_map(&json!({"generateName": "a-"})),
            "child 1 of the response (ConfigMap): `metadata.generateName` cannot replace \
             `metadata.name`: children need stable names",
        ),
        (
            config_map(&json!({"name": "a/b"})),
            "ConfigMap.v1 ns/a/b: `metadata.name` is not a valid name",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}),
            "Pod.v1 a: the operator does not declare the child type Pod of v1: add \
             `.child::<Pod>(..)`, or `.child_of_type(..)`, to the `OperatorConfig`",
        ),
        (
            json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
            "ConfigMap.v2 a: the operator declares the child type ConfigMap of v1, not ConfigMap of \
             v2: return the declared one, or add `.child_of_type(..)` to the `OperatorConfig`",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Configmap", "metadata": {"name": "a"}}),
            "Configmap.v1 a: the operator declares the child type ConfigMap of v1, not Configmap of \
             v1: return the declared one, or add `.child_of_type(..)` to the `OperatorConfig`",
        ),
        (
            config_map(&json!({"name": "a", "namespace": "other"})),
            "ConfigMap.v1 other/a: it is not in the namespace `ns` of its parent: only children of a \
             type with `.delete_with_finalizer()` may be elsewhere",
        ),
        (
            config_map(&json!({"name": "a", "uid": "u"})),
            "ConfigMap.v1 ns/a: the server writes `metadata.uid`: remove what was read from the server, as `recipes::ObjectCopy` does",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
                "status": {"phase": "x"}}),
            "ConfigMap.v1 ns/a: the server writes `status`: remove what was read from the server, as `recipes::ObjectCopy` does",
        ),
        (
            config_map(
                &json!({"name": "a", "ownerReferences": [{"uid": "z", "controller": true}]}),
            ),
            "ConfigMap.v1 ns/a: `metadata.ownerReferences` names another controller than the parent",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}),
            "Namespace.v1 a: Namespace.v1 is cluster-scoped and cannot belong to a namespaced \
             parent, unless the child type has `.delete_with_finalizer()`",
        ),
        (
            json!({"apiVersion": "example.com/v2", "kind": "App", "metadata": {"name": "app"}}),
            "App.example.com/v2 ns/app: it is the parent itself",
        ),
    ] {
        assert_eq!(refusal(Some("ns"), child), message);
    }
}

/// Otherwise it would be written into the namespace of its parent.
#[test]
fn a_field_of_another_type_is_not_taken_for_missing() {
    let child = |version: Value, kind: Value, name: Value, namespace: Value| {
        let metadata = json!({"name": name, "namespace": namespace});
        json!({"apiVersion": version, "kind": kind, "metadata": metadata})
    };
    let text = |text: &str| json!(text);
    for (child, message) in [
        (
            child(text("v1"), text("ConfigMap"), text("a"), json!(7)),
            "ConfigMap.v1 a: `metadata.namespace` has the wrong JSON type",
        ),
        (
            child(text("v1"), text("ConfigMap"), json!(7), Value::Null),
            "child 1 of the response (ConfigMap): `metadata.name` has the wrong JSON type",
        ),
        (
            child(text("v1"), json!(["ConfigMap"]), text("a"), Value::Null),
            "child 1 of the response (a): `kind` has the wrong JSON type",
        ),
        (
            child(json!(1), text("ConfigMap"), text("a"), Value::Null),
            "child 1 of the response (ConfigMap a): `apiVersion` has the wrong JSON type",
        ),
    ] {
        for namespace in [Some("ns"), None] {
            assert_eq!(refusal(namespace, child.clone()), message);
        }
    }
}

#[test]
fn children_of_a_cluster_scoped_parent_must_name_their_namespace() {
    let child = config_map(&json!({"name": "a"}));
    assert!(refusal(None, child).contains("must name its namespace"));
    let child = config_map(&json!({"name": "a", "namespace": "x"}));
    assert_eq!(one(None, child).id.to_string(), "ConfigMap.v1 x/a");
    let namespace =
        |metadata: Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
    assert!(refusal(None, namespace(json!({"name": "a", "namespace": "x"}))).contains("have no"));
    assert_eq!(one(None, namespace(json!({"name": "a"}))).id.to_string(), "Namespace.v1 a");
}

#[test]
fn all_refusals_are_reported_at_once() {
    let a = config_map(&json!({"name": "a"}));
    let desired = vec![a.clone(), a, config_map(&json!({"name": "b", "namespace": "x"}))];
    let refusals = normalised(&parent(Some("ns")), desired).unwrap_err();
    let whys: Vec<_> = refusals.into_iter().map(|refusal| refusal.why).collect();
    let twice = RefusalReason::Duplicate(ReturnedBy::Child, ReturnedBy::Child);
    assert_eq!(whys, [twice, RefusalReason::ForeignNamespace("ns".to_owned())]);
}

#[test]
fn versions_of_one_type_are_one_child() {
    let app = |version: &str| {
        json!({"apiVersion": format!("example.com/{version}"), "kind": "App",
            "metadata": {"name": "b"}})
    };
    let refusals = normalised(&parent(Some("ns")), vec![app("v1"), app("v2")]).unwrap_err();
    let twice = RefusalReason::Duplicate(ReturnedBy::Child, ReturnedBy::Child);
    assert_eq!(refusals[0].why, twice);
}

#[test]
fn a_child_that_is_too_large_is_refused() {
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"k": "x".repeat(MAX_BYTES)}});
    assert!(refusal(Some("ns"), child).contains("more than an API server stores"));
}

#[test]
fn the_hash_depends_on_the_values_and_not_on_the_order_of_fields() {
    let hash = |text: &str| one(Some("ns"), serde_json::from_str(text).unwrap()).desired_hash;
    let head = r#""apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}"#;
    let a = hash(&format!(r#"{{{head}, "data": {{"a": "1", "b": "2"}}}}"#));
    assert_eq!(a, hash(&format!(r#"{{"data": {{"b": "2", "a": "1"}}, {head}}}"#)));
    assert_ne!(a, hash(&format!(r#"{{{head}, "data": {{"a": "1", "b": "3"}}}}"#)));
}

#[test]
fn a_serialised_rust_type_is_a_valid_child() {
    let secret = Secret {
        metadata: kube::api::ObjectMeta { name: Some("a".to_owned()), ..Default::default() },
        ..Default::default()
    };
    let write = one(Some("ns"), serde_json::to_value(secret).unwrap());
    assert_eq!(write.id.to_string(), "Secret.v1 ns/a");
    let service = serde_json::to_value(Service::default()).unwrap();
    assert!(refusal(Some("ns"), service).contains("Service"));
}
