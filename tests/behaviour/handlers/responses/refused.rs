//! Invalid answers: each is refused as a whole, before anything is written.

use serde_json::{Value, json};

use super::{Setup, name_of, secret};
use crate::{
    cluster::Request,
    recipe::config_map,
    world::{CONFIG_MAP, World},
};

const NO_OBJECT: &str = "it is not a JSON object";
const NO_NAME: &str = "`metadata.name` is not a valid name";
const ODD_NAMESPACE: &str = "`metadata.namespace` has the wrong JSON type";

/// A description, the spec that makes the handler answer so, and the reported message.
fn refused() -> Vec<(&'static str, Value, &'static str)> {
    let long = "x".repeat(254);
    vec![
        ("null for a child", beside(Value::Null), NO_OBJECT),
        ("a number for a child", beside(json!(7)), NO_OBJECT),
        ("a text for a child", beside(json!("ConfigMap x")), NO_OBJECT),
        ("a list for a child", beside(json!([config_map("x", json!({}))])), NO_OBJECT),
        ("no version", odd("apiVersion", Value::Null), "`apiVersion` is missing"),
        ("a number for a version", odd("apiVersion", json!(1)), "`apiVersion` has the wrong JSON"),
        ("no kind", odd("kind", Value::Null), "`kind` is missing"),
        ("an empty kind", odd("kind", json!("")), "`kind` is missing"),
        ("a list for a kind", odd("kind", json!(["ConfigMap"])), "`kind` has the wrong JSON type"),
        ("a kind that is not declared", odd("kind", json!("Endpoints")), "does not declare"),
        ("a kind that cannot be", odd("kind", json!("No/Kind?")), "does not declare"),
        (
            "a version that is not declared",
            odd("apiVersion", json!("v2")),
            "declares the child type ConfigMap of v1",
        ),
        (
            "a version that cannot be",
            odd("apiVersion", json!("a/b/c")),
            "declares the child type ConfigMap of v1",
        ),
        ("a child of the whole cluster", odd("kind", json!("Namespace")), "does not declare"),
        ("no metadata", odd("metadata", Value::Null), "`metadata.name` is missing"),
        ("a list for metadata", odd("metadata", json!([])), "`metadata` has the wrong JSON type"),
        ("no name", odd("metadata.name", Value::Null), "`metadata.name` is missing"),
        ("an empty name", odd("metadata.name", json!("")), "`metadata.name` is missing"),
        ("a number for a name", odd("metadata.name", json!(7)), "`metadata.name` has the wrong"),
        ("a name of the server", generated(), "children need stable names"),
        ("a name that is too long", odd("metadata.name", json!(long)), NO_NAME),
        ("a name with a nul", odd("metadata.name", json!("a\u{0}b")), NO_NAME),
        ("a name with a line end", odd("metadata.name", json!("a\r\nb")), NO_NAME),
        ("a name that is a path", odd("metadata.name", json!("../secrets/x")), NO_NAME),
        ("a name that is a directory", odd("metadata.name", json!("..")), NO_NAME),
        ("a name that is escaped", odd("metadata.name", json!("a%2Fb")), NO_NAME),
        ("a name with a query", odd("metadata.name", json!("a?dryRun=All")), NO_NAME),
        ("another namespace", odd("metadata.namespace", json!("kube-system")), "namespace `test-"),
        ("a number for a namespace", odd("metadata.namespace", json!(7)), ODD_NAMESPACE),
        ("a list for a namespace", odd("metadata.namespace", json!([])), ODD_NAMESPACE),
        ("a list for labels", odd("metadata.labels", json!(["a"])), "`metadata.labels` has the"),
        ("a text for owners", odd("metadata.ownerReferences", json!("x")), "wrong JSON type"),
        ("another controller", another_controller(), "names another controller than the parent"),
        ("a uid", odd("metadata.uid", json!("u")), "`metadata.uid` is written by the server"),
        ("a resource version", odd("metadata.resourceVersion", json!("1")), "is written by the"),
        ("a generation", odd("metadata.generation", json!(1)), "`metadata.generation` is written"),
        (
            "a creation time",
            odd("metadata.creationTimestamp", json!("now")),
            "is written by the server",
        ),
        (
            "a deletion time",
            odd("metadata.deletionTimestamp", json!("now")),
            "is written by the server",
        ),
        (
            "a grace period",
            odd("metadata.deletionGracePeriodSeconds", json!(0)),
            "is written by the",
        ),
        ("managers", odd("metadata.managedFields", json!([])), "is written by the server"),
        ("a link", odd("metadata.selfLink", json!("/api")), "`metadata.selfLink` is written"),
        ("a status", odd("status", json!({"phase": "Running"})), "`status` is written by the"),
        ("a child twice", beside(config_map("new", json!({"other": "data"}))), "is returned twice"),
        ("a secret of numbers", odd_secret("data"), "`data` has the wrong JSON type"),
        ("a secret of odd texts", odd_secret("stringData"), "`stringData` has the wrong JSON type"),
        ("the parent itself", itself("the parent itself"), "it is the parent itself"),
        ("too many children", json!({"act": "many", "status": {}}), "returned 10001 children"),
        ("a child of two megabytes", json!({"act": "large", "status": {}}), "bytes, more than an"),
    ]
}

/// An answer with a valid child, too.
fn beside(odd: Value) -> Value {
    json!({"children": [config_map("new", json!({})), odd], "status": {}})
}

/// An answer with a child with an invalid field; null for a missing one.
fn odd(field: &str, value: Value) -> Value {
    let mut child = config_map("x", json!({}));
    match field.split_once('.') {
        Some((parent, field)) => child[parent][field] = value,
        None => child[field] = value,
    }
    beside(child)
}

fn generated() -> Value {
    let metadata = json!({"generateName": "x-"});
    odd("metadata", metadata)
}

fn another_controller() -> Value {
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "u",
        "controller": true});
    odd("metadata.ownerReferences", json!([owner]))
}

fn odd_secret(field: &str) -> Value {
    let mut secret = secret("x");
    secret[field] = json!({"number": 7});
    beside(secret)
}

fn itself(what: &str) -> Value {
    let mut parent = config_map(&name_of(what), json!({}));
    parent["apiVersion"] = json!("test.operetta.dev/v1");
    parent["kind"] = json!("Recipe");
    beside(parent)
}

#[operetta_harness::test]
async fn what_cannot_be_followed_is_refused_before_anything_is_written() {
    let setup = Setup::on(World::that_logs_requests().await).await;
    let before = setup.world.our_requests().await.len();
    for (what, answer, words) in refused() {
        setup.survives(what, answer, "InvalidChildren", words).await;
    }
    setup.operators.settled().await;
    let mut outside = setup.world.our_requests().await.split_off(before);
    outside.retain(|one| one.is_write() && !is_expected(one));
    assert!(outside.is_empty(), "{outside:#?}");
    assert!(setup.world.get(CONFIG_MAP, "new").await.is_null());
    setup.close().await;
}

/// Whether it is a status, an Event, or a child of one of the valid answers before and after.
fn is_expected(write: &Request) -> bool {
    let path = write.uri.split('?').next().unwrap_or_default();
    let is_child = || {
        let name = path.rsplit('/').next().unwrap_or_default();
        refused().iter().any(|(what, ..)| name_of(what) == name)
    };
    match write.resource.as_str() {
        "events" => true,
        "recipes" => write.subresource == "status",
        "configmaps" => is_child(),
        _ => false,
    }
}
