//! The parents of a file, as if they were applied: the operator of each parent, and the fields that the object on
//! the server keeps. Sends nothing, reads no file.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    board::{Board, OperatorSnapshot},
    object::{K8sType, KeptManagers, LabelSelector, Object, ObjectKey, ParseObjectError},
    operator::OperatorConfig,
};

/// Why no plan can be made for a document. Documents are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is no object, or lacks what every object has.
    #[error(
        "document {document} is not a Kubernetes object: `{field}` is missing or is not a text"
    )]
    Missing {
        /// Which.
        document: usize,
        /// The field.
        field: &'static str,
    },
    /// It is not of the parent type of an operator that is asked for.
    #[error(
        "document {document}: no operator has parents of the type {given}: the parent types are {known}"
    )]
    NoParentType {
        /// Which.
        document: usize,
        /// Its type.
        given: String,
        /// The types of parents.
        known: String,
    },
    /// It has another version than the operators read.
    #[error(
        "document {document} has `apiVersion: {given}`, and its operator reads {read}: convert it"
    )]
    OtherVersion {
        /// Which.
        document: usize,
        /// Its version.
        given: String,
        /// That of the operator.
        read: String,
    },
    /// It lacks a namespace, or has one although its type is cluster-scoped.
    #[error("document {document}: {} {name} {}", .ty.kind(), namespace_problem(.ty))]
    Namespace {
        /// Which.
        document: usize,
        /// Its type.
        ty: K8sType,
        /// Its name.
        name: String,
    },
    /// Its labels or its namespace are none that the operators of its type select.
    #[error(
        "document {document}: no operator answers for {} {key}: the namespace or the labels are not those that the \
         operators select", .ty.kind()
    )]
    NotSelected {
        /// Which.
        document: usize,
        /// Its type.
        ty: K8sType,
        /// Its namespace and name.
        key: ObjectKey,
    },
    /// It cannot be read.
    #[error("document {document}: {} {key} {problem}", .ty.kind())]
    Unreadable {
        /// Which.
        document: usize,
        /// Its type.
        ty: K8sType,
        /// Its namespace and name.
        key: ObjectKey,
        /// Why.
        problem: ParseObjectError,
    },
    /// An earlier document has the same parent.
    #[error("document {document}: {} {key} is in document {earlier} too: remove one of them", .ty.kind())]
    Twice {
        /// Which.
        document: usize,
        /// Its type.
        ty: K8sType,
        /// Its namespace and name.
        key: ObjectKey,
        /// The earlier document.
        earlier: usize,
    },
}

/// A parent of a document.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    /// As it would be if its document was applied.
    pub(super) object: Object,
    /// As it is, if it exists.
    pub(super) live: Option<Object>,
}

/// A parent that does not exist has no uid; no object has this one.
const NO_UID: &str = "00000000-0000-0000-0000-000000000000";

/// What the server writes of the metadata: it is kept, or of a new object.
const OF_SERVER: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// The maps in which an apply keeps the entries that the file does not have.
const SHARED: [&str; 2] = ["labels", "annotations"];

/// The parents of these documents by operator.
pub(super) fn parents(
    board: &Board,
    operators: &[OperatorSnapshot],
    documents: &[Value],
) -> Result<BTreeMap<String, Vec<Applied>>, DocumentError> {
    let mut seen: BTreeMap<(K8sType, ObjectKey), usize> = BTreeMap::new();
    let mut parents: BTreeMap<String, Vec<Applied>> = BTreeMap::new();
    for (index, document) in documents.iter().enumerate() {
        let number = index + 1;
        let configs: Vec<&OperatorConfig> = operators.iter().map(|it| &it.info.config).collect();
        let configs = of_type(&configs, document, number)?;
        let Some(ty) = configs.first().map(|config| config.parent.clone()) else { continue };
        let key = key(document, &ty, number)?;
        if let Some(earlier) = seen.insert((ty.clone(), key.clone()), number) {
            return Err(DocumentError::Twice { document: number, ty, key, earlier });
        }
        let live = board.type_state(&ty).and_then(|cache| cache.store.get(&key));
        let object = applied(&ty, live.as_ref(), document).map_err(|problem| {
            let (ty, key) = (ty.clone(), key.clone());
            DocumentError::Unreadable { document: number, ty, key, problem }
        })?;
        let selecting: Vec<_> = configs.into_iter().filter(|it| selects(it, &object)).collect();
        if selecting.is_empty() {
            return Err(DocumentError::NotSelected { document: number, ty, key });
        }
        for config in selecting {
            let parent = Applied { object: object.clone(), live: live.clone() };
            parents.entry(config.name.clone()).or_default().push(parent);
        }
    }
    Ok(parents)
}

fn text<'a>(
    document: &'a Value,
    number: usize,
    field: &'static str,
) -> Result<&'a str, DocumentError> {
    let pointer = format!("/{}", field.replace('.', "/"));
    let text = document.pointer(&pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or(DocumentError::Missing { document: number, field })
}

/// The operators whose parents are of the type of a document.
fn of_type<'a>(
    configs: &[&'a OperatorConfig],
    document: &Value,
    number: usize,
) -> Result<Vec<&'a OperatorConfig>, DocumentError> {
    let api_version = text(document, number, "apiVersion")?;
    let kind = text(document, number, "kind")?;
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let is_of_kind =
        |config: &OperatorConfig| config.parent.kind() == kind && config.parent.group() == group;
    let of_kind: Vec<_> = configs.iter().copied().filter(|config| is_of_kind(config)).collect();
    let Some(first) = of_kind.first() else {
        let name = |config: &&OperatorConfig| config.parent.to_string();
        let mut known: Vec<String> = configs.iter().map(name).collect();
        known.sort();
        known.dedup();
        let (given, known) = (format!("{kind}.{api_version}"), known.join(", "));
        return Err(DocumentError::NoParentType { document: number, given, known });
    };
    let read = first.parent.api_version().to_owned();
    let mut same = of_kind;
    same.retain(|config| config.parent.api_version() == api_version);
    if same.is_empty() {
        let given = api_version.to_owned();
        return Err(DocumentError::OtherVersion { document: number, given, read });
    }
    Ok(same)
}

fn key(document: &Value, ty: &K8sType, number: usize) -> Result<ObjectKey, DocumentError> {
    let name = text(document, number, "metadata.name")?;
    match text(document, number, "metadata.namespace").ok() {
        Some(namespace) if ty.is_namespaced() => Ok(ObjectKey::namespaced(namespace, name)),
        None if !ty.is_namespaced() => Ok(ObjectKey::cluster(name)),
        _ => {
            let (ty, name) = (ty.clone(), name.to_owned());
            Err(DocumentError::Namespace { document: number, ty, name })
        }
    }
}

fn namespace_problem(ty: &K8sType) -> &'static str {
    if ty.is_namespaced() {
        "has no `metadata.namespace`: set it"
    } else {
        "is cluster-scoped: remove `metadata.namespace`"
    }
}

fn selects(config: &OperatorConfig, object: &Object) -> bool {
    let is_here = !object.ty().is_namespaced() || config.namespaces.include(object.namespace());
    let selector = config.parent_selector.as_deref().unwrap_or_default();
    let labels = LabelSelector::parse(selector);
    is_here && labels.is_ok_and(|labels| labels.matches(&object.labels()))
}

/// The object as it would be on the server. Its defaults are not known here.
fn applied(
    ty: &K8sType,
    live: Option<&Object>,
    document: &Value,
) -> Result<Object, ParseObjectError> {
    let live = live.map(Object::to_value).unwrap_or_default();
    let mut object = document.clone();
    let metadata = metadata(&live["metadata"], &document["metadata"]);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("metadata".to_owned(), Value::Object(metadata));
        // Who applies a parent does not write its status.
        fields.remove("status");
        fields.extend(live.get("status").map(|status| ("status".to_owned(), status.clone())));
    }
    Object::from_value(ty, &object, &KeptManagers::default())
}

fn metadata(live: &Value, document: &Value) -> Map<String, Value> {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let mut metadata = fields(document);
    metadata.retain(|name, _| !OF_SERVER.contains(&name.as_str()));
    let new = fields(&json!({"uid": NO_UID, "resourceVersion": "0", "generation": 1}));
    let kept = if live.is_object() { fields(live) } else { new };
    for (name, value) in kept {
        if SHARED.contains(&name.as_str()) {
            let mut shared = fields(&value);
            shared.extend(metadata.get(&name).map(fields).unwrap_or_default());
            metadata.insert(name, Value::Object(shared));
        } else {
            metadata.entry(name).or_insert(value);
        }
    }
    metadata
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{board::OperatorInfo, operator::OperatorName, store::Store};

    fn app() -> K8sType {
        K8sType::namespaced("example.com/v1", "App", "apps")
    }

    /// The operator of apps with a tier.
    fn board() -> Board {
        let board = Board::new();
        let mut config = OperatorConfig::new("op", app());
        config.parent_selector = Some("tier".to_owned());
        let name = OperatorName::new("op").unwrap();
        board.register(OperatorInfo { name, config, has_finalizer: false });
        board.add_store(Store::new(app(), BTreeSet::new()).reader());
        board
    }

    fn document(metadata: &Value) -> Value {
        json!({"apiVersion": "example.com/v1", "kind": "App", "metadata": metadata})
    }

    fn planned(documents: &[Value]) -> Result<BTreeMap<String, Vec<Applied>>, String> {
        let board = board();
        parents(&board, &board.operators(), documents).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_with_a_document_is_said_with_its_number() {
        let good = document(&json!({"name": "a", "namespace": "ns", "labels": {"tier": "x"}}));
        let mut other = good.clone();
        other["kind"] = "Ape".into();
        let mut old = good.clone();
        old["apiVersion"] = "example.com/v1alpha1".into();
        for (bad, expected) in [
            (json!("text"), "document 2 is not a Kubernetes object: `apiVersion` is missing"),
            (json!({"apiVersion": "v1"}), "document 2 is not a Kubernetes object: `kind`"),
            (document(&json!({"namespace": "ns"})), "`metadata.name` is missing"),
            (document(&json!({"name": "a"})), "document 2: App a has no `metadata.namespace`"),
            (other, "no operator has parents of the type Ape.example.com/v1: the parent types are"),
            (old, "has `apiVersion: example.com/v1alpha1`, and its operator reads example.com/v1"),
            (
                document(&json!({"name": "b", "namespace": "ns"})),
                "no operator answers for App ns/b",
            ),
            (good.clone(), "document 2: App ns/a is in document 1 too"),
        ] {
            let error = planned(&[good.clone(), bad]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(planned(&[good]).unwrap()["op"].len(), 1);
    }

    #[test]
    fn what_the_server_and_others_wrote_is_kept() {
        let metadata = json!({
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3,
            "labels": {"tier": "old", "team": "x"}, "finalizers": ["f"],
        });
        let live = json!({"metadata": metadata, "spec": {"a": 1, "b": 2}, "status": {"s": 1}});
        let live = Object::from_value(&app(), &live, &KeptManagers::default()).unwrap();
        let mut document = document(&json!({
            "name": "a", "namespace": "ns", "uid": "other", "labels": {"tier": "new"},
        }));
        document["spec"] = json!({"a": 2});
        document["status"] = json!({"s": 2});
        let object = applied(&app(), Some(&live), &document).unwrap().to_value();
        assert_eq!(object["metadata"]["labels"], json!({"tier": "new", "team": "x"}));
        assert_eq!(object["metadata"]["finalizers"], json!(["f"]));
        assert_eq!((&object["metadata"]["uid"], &object["status"]["s"]), (&json!("u"), &json!(1)));
        assert_eq!(object["spec"], json!({"a": 2}));
        let new = applied(&app(), None, &document).unwrap();
        assert!(*new.uid() == *NO_UID && new.field("status").is_none());
    }
}
