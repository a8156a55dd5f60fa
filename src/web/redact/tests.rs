//! Which values are redacted, by object and owner.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{
    board::{OperatorInfo, TypeState},
    object::{KeptManagers, ResourceVersion, SecretFields},
    operator::{ChildConfig, OperatorConfig},
    store::{ScopeId, Store},
};

const SENTINEL: &str = "c2VudGluZWw=";
const MARKED: &str = "marked-s3ntinel";

/// An operator `op` for Apps, whose `spec.password` is marked, with Pods and Secrets.
struct Cluster {
    board: Board,
    stores: Vec<(Store, ScopeId)>,
}

fn ty(kind: &str) -> K8sType {
    let api_version = match kind {
        "App" => "example.com/v1",
        "Deployment" | "ReplicaSet" => "apps/v1",
        _ => "v1",
    };
    K8sType::namespaced(api_version, kind, &format!("{}s", kind.to_lowercase()))
}

fn marks() -> SecretFields {
    SecretFields::of_schema(&json!({"properties": {"spec": {"properties": {
        "password": {"type": "string", "format": "password"},
    }}}}))
}

fn cluster(marks: Option<SecretFields>) -> Cluster {
    let config = OperatorConfig::new("op", ty("App"))
        .child_of_type(ty("Pod"), ChildConfig::apply())
        .child_of_type(ty("Secret"), ChildConfig::apply());
    cluster_of(marks, vec![config])
}

fn cluster_of(marks: Option<SecretFields>, operators: Vec<OperatorConfig>) -> Cluster {
    let board = Board::new();
    let types: BTreeSet<K8sType> = operators
        .iter()
        .flat_map(|config| config.children.iter().map(|child| &child.ty).chain([&config.parent]))
        .cloned()
        .collect();
    for config in operators {
        let name = config.operator_name().unwrap();
        board.register(OperatorInfo { name, config, has_finalizer: false });
    }
    let store = |ty: K8sType| {
        let store = Store::new(ty, BTreeSet::new());
        let scope = store.add_scope(None);
        let start = store.begin_list(scope);
        let _ = store.replace(scope, start, Vec::new(), &ResourceVersion::new("1"));
        board.add_store(store.reader());
        (store, scope)
    };
    let stores = types.into_iter().map(store).collect();
    let state = TypeState { secrets: marks.map(Into::into), ..TypeState::default() };
    board.set_type(&ty("App"), state);
    Cluster { board, stores }
}

impl Cluster {
    /// Caches an object, and shows it.
    fn shown(&self, kind: &str, object: Value) -> Value {
        redacted(&self.board, &self.cached(kind, object))
    }

    fn cached(&self, kind: &str, mut value: Value) -> Object {
        for (name, field) in
            [("name", "a"), ("namespace", "ns"), ("uid", "u"), ("resourceVersion", "5")]
        {
            let metadata = value["metadata"].as_object_mut().unwrap();
            metadata.entry(name).or_insert_with(|| field.into());
        }
        let (store, scope) =
            self.stores.iter().find(|(store, _)| *store.reader().ty() == ty(kind)).unwrap();
        let object = Object::from_value(&ty(kind), &value, &KeptManagers::default()).unwrap();
        let _ = store.observe(*scope, object.clone());
        object
    }

    /// With the parent `p`.
    fn with_parent(self) -> Self {
        let metadata = json!({"name": "p", "uid": "p"});
        self.cached("App", json!({"metadata": metadata, "spec": {"password": MARKED}}));
        self
    }
}

fn owned_by(kind: &str, uid: &str) -> Value {
    let owner = json!({
        "apiVersion": ty(kind).api_version(), "kind": kind, "name": uid, "uid": uid,
        "controller": true,
    });
    json!({"name": "c", "uid": "c", "ownerReferences": [owner]})
}

fn pod(metadata: &Value) -> Value {
    let env = json!([{"name": "PASSWORD", "value": MARKED}, {"name": "LEVEL", "value": "info"}]);
    let container = json!({"name": "c", "env": env, "args": [format!("--password={MARKED}")]});
    json!({"metadata": metadata, "spec": {"containers": [container]}})
}

#[test]
fn a_secret_shows_its_keys_and_no_value() {
    let cluster = cluster(Some(marks()));
    for data in [json!({"password": SENTINEL}), json!({"x": {"y": SENTINEL}}), json!(SENTINEL)] {
        let secret = json!({"metadata": {}, "data": data, "stringData": data});
        let shown = cluster.shown("Secret", secret);
        assert!(!shown.to_string().contains(SENTINEL), "{shown}");
    }
    let shown = cluster.shown("Secret", json!({"metadata": {}, "data": {"password": SENTINEL}}));
    assert_eq!(shown["data"], json!({"password": REDACTED}));
}

#[test]
fn the_last_applied_annotation_is_redacted_in_every_object() {
    let last_applied = format!("{{\"data\":{{\"password\":\"{SENTINEL}\"}}}}");
    let annotations = json!({LAST_APPLIED: last_applied, "other": "stays"});
    let pod = json!({"metadata": {"annotations": annotations}, "data": {"key": "value"}});
    let shown = cluster(Some(marks())).shown("Pod", pod);
    assert_eq!(shown["metadata"]["annotations"], json!({LAST_APPLIED: REDACTED, "other": "stays"}));
    assert_eq!(shown["data"], json!({"key": "value"}));
}

/// An annotation may have a copy of an earlier version, in any form.
#[test]
fn a_secret_shows_no_annotation_and_no_label_that_quotes_it() {
    let metadata = json!({
        "annotations": {"kapp.k14s.io/original": SENTINEL, "note": "of last week", "zip": "H4sIAA"},
        "labels": {"app": "db", "copy": SENTINEL, "clear": "sentinel", "within": "x-sentinel-y"},
        "finalizers": ["example.com/sentinel"],
    });
    let secret = json!({"metadata": metadata, "type": "example.com/sentinel",
        "data": {"password": SENTINEL}, "stringData": {"new": "other-s3ntinel"}});
    for marks in [Some(marks()), None] {
        let shown = cluster(marks.clone()).shown("Secret", secret.clone());
        let text = shown.to_string();
        assert!(!text.contains("sentinel") && !text.contains(SENTINEL), "{shown}");
        let annotations = shown["metadata"]["annotations"].as_object().unwrap();
        assert!(annotations.values().all(|it| it == REDACTED), "{shown}");
        assert_eq!(annotations.len(), 3, "their names are shown");
        assert_eq!(shown["metadata"]["labels"]["app"], "db");
    }
}

#[test]
fn a_secret_within_another_object_shows_its_keys_and_no_value() {
    let embedded = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": SENTINEL}});
    let annotations = json!({"copy": embedded.to_string()});
    let pod = json!({"metadata": {"annotations": annotations}, "spec": {"template": embedded}});
    let shown = cluster(Some(marks())).shown("Pod", pod);
    assert_eq!(shown["spec"]["template"]["data"], json!({"a": REDACTED}));
    assert_eq!(shown["metadata"]["annotations"], json!({"copy": REDACTED}));
}

#[test]
fn a_copy_of_an_earlier_version_shows_no_marked_value() {
    let copy = json!({"kind": "App", "spec": {"password": "earlier-s3ntinel", "size": 2}});
    let annotations = json!({
        "kapp.k14s.io/original": copy.to_string(), "size": r#"{"spec": {"size": 2}}"#, "text": "{",
    });
    let app = json!({"metadata": {"annotations": annotations}, "spec": {"password": MARKED}});
    let shown = cluster(Some(marks())).shown("App", app);
    let expected = json!({
        "kapp.k14s.io/original": REDACTED, "size": r#"{"spec": {"size": 2}}"#, "text": "{",
    });
    assert_eq!(shown["metadata"]["annotations"], expected);
}

#[test]
fn a_text_about_a_parent_or_child_hides_the_values_of_its_secrets() {
    let cluster = cluster(Some(marks())).with_parent();
    cluster.cached("Secret", json!({"metadata": owned_by("App", "p"), "data": {"a": SENTINEL}}));
    let mut metadata = owned_by("App", "p");
    (metadata["name"], metadata["uid"]) = (json!("pod"), json!("pod"));
    let pod = cluster.cached("Pod", pod(&metadata));
    let app = cluster.board.type_state(&ty("App")).unwrap().store;
    let parent = app.get(&ObjectKey::namespaced("ns", "p")).unwrap();
    for about in [&pod, &parent] {
        let shown = text(&cluster.board, about, "refused: sentinel, c2VudGluZWw=");
        assert_eq!(shown, "refused: (redacted), (redacted)");
        let secrets = Secrets::of(&cluster.board, about);
        assert_eq!(secrets.path(".spec.sentinel"), ".spec.sentinel", "the name of a field");
    }
}

#[test]
fn marked_fields_are_redacted_in_the_object_and_wherever_it_quotes_them() {
    let spec = json!({"password": MARKED, "size": 3, "note": format!("it is {MARKED}")});
    let parent = json!({"metadata": {"labels": {"a": "b"}}, "spec": spec, "status": {"x": MARKED}});
    let shown = cluster(Some(marks())).shown("App", parent);
    let expected = json!({"password": REDACTED, "size": 3, "note": "it is (redacted)"});
    assert_eq!(shown["spec"], expected);
    assert_eq!(shown["status"], json!({"x": REDACTED}));
    assert_eq!(shown["metadata"]["labels"], json!({"a": "b"}));
}

#[test]
fn copies_of_marked_values_in_children_are_redacted_and_nothing_else() {
    let cluster = cluster(Some(marks())).with_parent();
    let by_label = json!({"name": "l", "uid": "l", "labels": {"operetta.dev/parent-uid": "p"}});
    for metadata in [owned_by("App", "p"), by_label] {
        let shown = cluster.shown("Pod", pod(&metadata));
        let container = &shown["spec"]["containers"][0];
        assert_eq!(container["env"][0], json!({"name": "PASSWORD", "value": REDACTED}));
        assert_eq!(container["env"][1]["value"], "info");
        assert_eq!(container["args"], json!(["--password=(redacted)"]));
    }
    // Children of a child belong to the parent, too.
    cluster.cached("Secret", json!({"metadata": owned_by("App", "p")}));
    let mut below = pod(&owned_by("Secret", "c"));
    below["metadata"]["name"] = json!("below");
    below["metadata"]["uid"] = json!("below");
    let shown = cluster.shown("Pod", below);
    assert!(!shown.to_string().contains(MARKED), "{shown}");
    let shown = cluster.shown("Pod", pod(&json!({"name": "other", "uid": "other"})));
    assert!(shown.to_string().contains(MARKED), "an object without owners is shown: {shown}");
}

#[test]
fn only_names_are_shown_while_the_secret_fields_are_unknown() {
    let unknown = cluster(None).with_parent();
    let gone = cluster(Some(marks()));
    let lost = {
        let mut lost = owned_by("App", "p");
        lost["ownerReferences"][0]["kind"] = json!("NobodyWatchesIt");
        lost
    };
    let by_label = json!({"name": "l", "uid": "l", "labels": {"operetta.dev/parent-uid": "p"}});
    for (cluster, metadata) in [
        (&unknown, owned_by("App", "p")),
        (&unknown, by_label.clone()),
        (&gone, owned_by("App", "p")),
        (&gone, by_label),
        (&gone, lost),
    ] {
        let name = metadata["name"].clone();
        let mut pod = pod(&metadata);
        pod["metadata"]["annotations"] = json!({"copy": MARKED});
        let shown = cluster.shown("Pod", pod);
        assert!(!shown.to_string().contains(MARKED), "{shown}");
        assert_eq!((&shown["metadata"]["name"], &shown["spec"]), (&name, &json!(UNKNOWN)));
    }
    let parent = unknown.shown("App", json!({"metadata": {}, "spec": {"password": MARKED}}));
    assert_eq!(parent["spec"], UNKNOWN);
}

/// One operator has Deployments as children of Apps, another has Pods as parents. A Pod of a Deployment
/// is cached, and the `ReplicaSet` between them is not.
#[test]
fn objects_owned_through_a_type_without_a_watch_are_redacted() {
    let other = OperatorConfig::new("other", ty("Pod"));
    let deployments = OperatorConfig::new("deployer", ty("App"))
        .child_of_type(ty("Deployment"), ChildConfig::apply());
    let cluster = cluster_of(Some(marks()), vec![deployments, other]).with_parent();
    let mut deployment = owned_by("App", "p");
    deployment["uid"] = json!("d");
    cluster.cached("Deployment", json!({"metadata": deployment}));
    let shown = cluster.shown("Pod", pod(&owned_by("ReplicaSet", "rs")));
    assert!(!shown.to_string().contains(MARKED), "{shown}");
    let shown = cluster.shown("Pod", pod(&json!({"name": "alone", "uid": "alone"})));
    assert!(shown.to_string().contains(MARKED), "an object without owners is shown: {shown}");
}

#[test]
fn a_text_about_an_object_is_shown_without_its_secret_values() {
    let cluster = cluster(Some(marks())).with_parent();
    let pod = cluster.cached("Pod", pod(&owned_by("App", "p")));
    let message = format!("exec: \"--password={MARKED}\": not found");
    assert_eq!(text(&cluster.board, &pod, &message), "exec: \"--password=(redacted)\": not found");
    let about = |kind: &str, name: &str| {
        text_about(&cluster.board, &ty(kind), &ObjectKey::namespaced("ns", name), &message)
    };
    assert_eq!(about("App", "p"), "exec: \"--password=(redacted)\": not found");
    assert_eq!(about("App", "gone"), UNKNOWN);
    assert_eq!(about("Unwatched", "x"), UNKNOWN);
}

#[test]
fn a_cycle_of_owners_ends() {
    let cluster = cluster(Some(marks())).with_parent();
    let mut a = owned_by("Secret", "b");
    a["name"] = json!("a");
    a["uid"] = json!("a");
    cluster.cached(
        "Secret",
        json!({"metadata": {"name": "b", "uid": "b",
        "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "a", "uid": "a"}]}}),
    );
    assert_eq!(cluster.shown("Secret", json!({"metadata": a, "x": "y"}))["x"], "y");
}
