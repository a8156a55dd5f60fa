//! Invalid responses: each is refused as a whole, whatever is beside the odd child.

use super::*;

const NO_OBJECT: &str =
    "it is not a JSON object: return a list, or an `Option`, by `.children(..)`";
const NO_NAME: &str = "`metadata.name` is not a valid name";
const ODD_NAMESPACE: &str = "`metadata.namespace` has the wrong JSON type";
const OTHER_VERSION: &str = "declares the child type ConfigMap of v1";

/// What the odd child is, the child, and a part of the message.
fn odd_children() -> Vec<(&'static str, Value, &'static str)> {
    let long = "x".repeat(254);
    let name = |name: &str| odd("metadata.name", json!(name));
    vec![
        ("null", Value::Null, NO_OBJECT),
        ("a number", json!(7), NO_OBJECT),
        ("a text", json!("ConfigMap x"), NO_OBJECT),
        ("a list", json!([config_map(&json!({"name": "x"}))]), NO_OBJECT),
        ("no version", odd("apiVersion", Value::Null), "`apiVersion` is missing"),
        ("a number for a version", odd("apiVersion", json!(1)), "`apiVersion` has the wrong JSON"),
        ("no kind", odd("kind", Value::Null), "`kind` is missing"),
        ("an empty kind", odd("kind", json!("")), "`kind` is missing"),
        ("a list for a kind", odd("kind", json!(["ConfigMap"])), "`kind` has the wrong JSON type"),
        ("a kind that is not declared", odd("kind", json!("Endpoints")), "does not declare"),
        ("a kind that cannot be", odd("kind", json!("No/Kind?")), "does not declare"),
        ("a version that is not declared", odd("apiVersion", json!("v2")), OTHER_VERSION),
        ("a version that cannot be", odd("apiVersion", json!("a/b/c")), OTHER_VERSION),
        ("a child of the whole cluster", odd("kind", json!("Namespace")), "is cluster-scoped"),
        ("no metadata", odd("metadata", Value::Null), "`metadata.name` is missing"),
        ("a list for metadata", odd("metadata", json!([])), "`metadata` has the wrong JSON type"),
        ("no name", odd("metadata.name", Value::Null), "`metadata.name` is missing"),
        ("an empty name", name(""), "`metadata.name` is missing"),
        ("a number for a name", odd("metadata.name", json!(7)), "`metadata.name` has the wrong"),
        ("a name that is too long", name(&long), NO_NAME),
        ("a name with a nul", name("a\u{0}b"), NO_NAME),
        ("a name with a line end", name("a\r\nb"), NO_NAME),
        ("a name that is a path", name("../secrets/x"), NO_NAME),
        ("a name that is a directory", name(".."), NO_NAME),
        ("a name that is escaped", name("a%2Fb"), NO_NAME),
        ("a name with a query", name("a?dryRun=All"), NO_NAME),
        ("another namespace", odd("metadata.namespace", json!("kube-system")), "namespace `ns`"),
        ("a number for a namespace", odd("metadata.namespace", json!(7)), ODD_NAMESPACE),
        ("a list for a namespace", odd("metadata.namespace", json!([])), ODD_NAMESPACE),
        ("a list for labels", odd("metadata.labels", json!(["a"])), "`metadata.labels` has the"),
        ("a text for owners", odd("metadata.ownerReferences", json!("x")), "wrong JSON type"),
        ("a status", odd("status", json!({"phase": "Running"})), "the server writes `status`"),
        ("a secret of numbers", odd_secret("data"), "`data` has the wrong JSON type"),
        ("a secret of odd texts", odd_secret("stringData"), "`stringData` has the wrong JSON type"),
    ]
}

/// A child with an invalid field; null for a missing one.
fn odd(field: &str, value: Value) -> Value {
    let mut child = config_map(&json!({"name": "x"}));
    match field.split_once('.') {
        Some((parent, field)) => child[parent][field] = value,
        None => child[field] = value,
    }
    child
}

fn odd_secret(field: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, field: {"number": 7}})
}

#[test]
fn an_odd_child_is_refused_beside_a_good_one() {
    let good = config_map(&json!({"name": "good"}));
    for (what, child, words) in odd_children() {
        let desired = vec![good.clone(), child];
        let refusals = normalised(&parent(Some("ns")), desired).unwrap_err();
        let [refusal] = &refusals[..] else { panic!("{what}: {refusals:?}") };
        assert!(refusal.to_string().contains(words), "{what}: {refusal}");
    }
}

#[test]
fn fields_of_the_server_are_refused_by_name() {
    for (field, value) in [
        ("uid", json!("u")),
        ("resourceVersion", json!("1")),
        ("generation", json!(1)),
        ("creationTimestamp", json!("now")),
        ("deletionTimestamp", json!("now")),
        ("deletionGracePeriodSeconds", json!(0)),
        ("managedFields", json!([])),
        ("selfLink", json!("/api")),
    ] {
        let expected = format!(
            "ConfigMap.v1 ns/x: the server writes `metadata.{field}`: remove what was read from the server, as `recipes::ObjectCopy` does"
        );
        assert_eq!(refusal(Some("ns"), odd(&format!("metadata.{field}"), value)), expected);
    }
}

#[test]
fn a_response_of_too_many_children_is_refused_at_once() {
    let child = |number: usize| config_map(&json!({"name": number.to_string()}));
    let children = |count: usize| (0..count).map(child).collect::<Vec<_>>();
    let refusals = normalised(&parent(Some("ns")), children(MAX_CHILDREN + 1)).unwrap_err();
    let [refusal] = &refusals[..] else { panic!("{refusals:?}") };
    assert!(refusal.to_string().contains("returned 10001 children"), "{refusal}");
    assert_eq!(
        normalised(&parent(Some("ns")), children(MAX_CHILDREN)).unwrap().len(),
        MAX_CHILDREN
    );
}

#[test]
fn a_child_outside_of_the_namespaces_of_the_operator_is_refused() {
    let parent = parent(Some("ns"));
    let config = OperatorConfig::new("op", parent.ty().clone())
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .within_namespaces(["ns", "other"]);
    let operator = operator();
    let why = |namespace: &str| {
        let child = config_map(&json!({"name": "x", "namespace": namespace}));
        let owner = Owner { config: &config, operator: &operator, parent: &parent };
        let refusals = normalise(owner, vec![DesiredChild::from(child)].into()).err();
        refusals.map(|refusals| refusals[0].to_string())
    };
    assert_eq!(why("other"), None);
    let expected = "ConfigMap.v1 beyond/x: the operator does not work in the namespace `beyond`";
    assert_eq!(why("beyond").as_deref(), Some(expected));
}
