//! Copies of objects: an observed object as a child that can be applied, also in another namespace.
//!
//! Removes what belongs to the one object that it was read from. Whether the copy may be written is decided by the
//! framework and the server.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::operator::{Labels, ORPHAN_LABEL};

/// An object cannot be copied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// It does not become JSON.
    #[error("cannot copy an object that cannot be serialized: {0}")]
    Unserializable(String),
    /// It is no object of Kubernetes, or was serialized without its type.
    #[error("cannot copy what has no `{0}`")]
    Missing(&'static str),
    /// It is valid for one object alone, and the server refuses or replaces a copy.
    #[error(
        "cannot copy the Secret {0}: it is the token of one service account. Let the server make another token"
    )]
    ServiceAccountToken(String),
}

/// A copy of an object without what belongs to the original alone. `Debug` shows its name, and no content.
///
/// Kept are the fields of the object, its name, its labels and its annotations. Removed are:
///
/// - `status`, and all other metadata: `uid`, `resourceVersion`, `generation`, times, `managedFields`, `finalizers` and
///   `ownerReferences`, which never lead to another namespace;
/// - the labels that Operetta sets on children, and the annotation of `kubectl apply`, which quotes the original;
/// - what the server chose for the one object: addresses and node ports of a Service, the volume of a
///   `PersistentVolumeClaim`, the selector of a Job, the node of a Pod.
///
/// A copy is a child like others, and serializes as one. A child of a namespaced parent must be in the namespace of the
/// parent, so copies into others have a cluster-scoped parent.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operetta::{prelude::*, recipes::ObjectCopy};
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let Some(source) = request.related_object::<Secret>("ca")? else {
///         return Ok(SyncResponse::new());
///     };
///     let copy = ObjectCopy::of(source)?;
///     let copies = ["shop", "bank"].map(|namespace| copy.clone().in_namespace(namespace));
///     Ok(SyncResponse::new().children(copies))
/// }
/// ```
#[derive(Clone, PartialEq)]
pub struct ObjectCopy(Value);

/// Of the metadata only these are of the object's author.
const KEPT: [&str; 4] = ["name", "namespace", "labels", "annotations"];
const APPLIED_BY_KUBECTL: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What the server chose: kind, and the pointer to the object that holds the fields.
const CHOSEN: [(&str, &str, &[&str]); 7] = [
    ("Service", "/spec", &["healthCheckNodePort"]),
    ("PersistentVolumeClaim", "/spec", &["volumeName"]),
    (
        "PersistentVolumeClaim",
        "/metadata/annotations",
        &[
            "pv.kubernetes.io/bind-completed",
            "pv.kubernetes.io/bound-by-controller",
            "volume.kubernetes.io/selected-node",
            "volume.kubernetes.io/storage-provisioner",
            "volume.beta.kubernetes.io/storage-provisioner",
        ],
    ),
    ("Job", "/metadata/labels", JOB_LABELS),
    ("Job", "/spec/template/metadata/labels", JOB_LABELS),
    ("Pod", "/spec", &["nodeName"]),
    ("Deployment", "/metadata/annotations", &["deployment.kubernetes.io/revision"]),
];
const JOB_LABELS: &[&str] = &[
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
];

impl ObjectCopy {
    /// A copy with the name and the namespace of the original: an observed object, a Rust type of Kubernetes or JSON.
    ///
    /// # Errors
    /// It has no `apiVersion`, `kind` or name, or is the token of a service account.
    pub fn of(object: &(impl Serialize + ?Sized)) -> Result<Self, CopyError> {
        let copy = serde_json::to_value(object);
        let mut copy = copy.map_err(|error| CopyError::Unserializable(error.to_string()))?;
        let has_text = |pointer| {
            copy.pointer(pointer).and_then(Value::as_str).is_some_and(|it| !it.is_empty())
        };
        let required =
            [("/apiVersion", "apiVersion"), ("/kind", "kind"), ("/metadata/name", "metadata.name")];
        if let Some((_, missing)) = required.into_iter().find(|(pointer, _)| !has_text(pointer)) {
            return Err(CopyError::Missing(missing));
        }
        if copy["kind"] == "Secret" && copy["type"] == "kubernetes.io/service-account-token" {
            let name = copy["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            return Err(CopyError::ServiceAccountToken(name));
        }
        strip(&mut copy);
        Ok(Self(copy))
    }

    /// Puts the copy into another namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.0["metadata"]["namespace"] = Value::from(namespace);
        self
    }

    /// Gives the copy another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.0["metadata"]["name"] = Value::from(name);
        self
    }

    /// Removes these labels too: those by which an operator finds its children, where
    /// [`OperatorConfig::with_labels`](crate::operator::OperatorConfig::with_labels) are others than the default.
    #[must_use]
    pub fn without_labels(mut self, labels: &Labels) -> Self {
        remove(&mut self.0, "/metadata/labels", &[&labels.parent_uid, &labels.managed_by]);
        self
    }

    /// The copy as JSON, to change it.
    pub fn into_value(self) -> Value {
        self.0
    }
}

fn strip(copy: &mut Value) {
    if let Some(fields) = copy.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = copy["metadata"].as_object_mut() {
        metadata.retain(|name, value| KEPT.contains(&&**name) && !value.is_null());
    }
    let Labels { parent_uid, managed_by } = Labels::default();
    remove(copy, "/metadata/labels", &[&parent_uid, &managed_by, ORPHAN_LABEL]);
    remove(copy, "/metadata/annotations", &[APPLIED_BY_KUBECTL]);
    strip_chosen(copy);
}

fn strip_chosen(copy: &mut Value) {
    let kind = copy["kind"].as_str().unwrap_or_default().to_owned();
    for (_, pointer, names) in CHOSEN.iter().filter(|(of, ..)| *of == kind) {
        remove(copy, pointer, names);
    }
    let is_headless = |copy: &Value| copy["spec"]["clusterIP"] == "None";
    match &*kind {
        "Job" if copy["spec"]["manualSelector"] != true => remove(copy, "/spec", &["selector"]),
        "Service" if !is_headless(copy) => {
            remove(copy, "/spec", &["clusterIP", "clusterIPs"]);
            let ports = copy.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
            let ports = ports.into_iter().flatten().filter_map(Value::as_object_mut);
            ports.for_each(|port| drop(port.remove("nodePort")));
        }
        _ => {}
    }
}

/// Removes fields of an object within an object, and that object if nothing is left.
fn remove(object: &mut Value, pointer: &str, names: &[&str]) {
    let Some(fields) = object.pointer_mut(pointer).and_then(Value::as_object_mut) else { return };
    let before = fields.len();
    fields.retain(|name, _| !names.contains(&&**name));
    let is_emptied = fields.is_empty() && before > 0;
    if let Some((outer, name)) = pointer.rsplit_once('/').filter(|_| is_emptied) {
        let outer = object.pointer_mut(outer).and_then(Value::as_object_mut);
        outer.map(|fields| fields.remove(name));
    }
}

impl Serialize for ObjectCopy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The copy may be of a Secret.
impl fmt::Debug for ObjectCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, metadata) = (text(&self.0["kind"]), &self.0["metadata"]);
        write!(f, "ObjectCopy({kind} {}/{})", text(&metadata["namespace"]), text(&metadata["name"]))
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers, Object};

    fn copy(object: &Value) -> Value {
        ObjectCopy::of(object).unwrap().into_value()
    }

    #[test]
    fn an_observed_object_loses_what_the_server_and_operators_wrote() {
        let observed = json!({
            "metadata": {
                "name": "a", "namespace": "one", "uid": "u", "resourceVersion": "5", "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"],
                "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0,
                "ownerReferences": [{"uid": "p"}], "selfLink": "/", "generateName": "a-",
                "labels": {
                    "app": "a", "operetta.dev/parent-uid": "p", "app.kubernetes.io/managed-by": "op",
                    "operetta.dev/orphan-on-delete": "true",
                },
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            },
            "data": {"a": "b"}, "status": {"x": 1},
        });
        let ty = K8sType::of::<ConfigMap>();
        let object = Object::from_value(&ty, &observed, &KeptManagers::default()).unwrap();
        let copy = ObjectCopy::of(&object).unwrap();
        assert_eq!(format!("{copy:?}"), "ObjectCopy(ConfigMap one/a)");
        let expected = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
            "metadata": {"name": "b", "namespace": "two", "labels": {"app": "a"}},
        });
        assert_eq!(copy.in_namespace("two").named("b").into_value(), expected);
        let typed: ConfigMap = object.parse_as().unwrap();
        assert_eq!(ObjectCopy::of(&typed).unwrap().into_value()["data"], expected["data"]);
    }

    #[test]
    fn what_the_server_chose_for_one_object_is_removed() {
        let metadata = json!({"name": "a"});
        let service = |ip: &str| {
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {
                "clusterIP": ip, "clusterIPs": [ip], "healthCheckNodePort": 3, "type": "NodePort",
                "ports": [{"port": 80, "nodePort": 30000}],
            }})
        };
        let expected = json!({"type": "NodePort", "ports": [{"port": 80}]});
        assert_eq!(copy(&service("10.0.0.1"))["spec"], expected);
        assert_eq!(copy(&service("None"))["spec"]["clusterIP"], "None");
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "a", "labels": {"job-name": "a", "app": "b"}},
            "spec": {
                "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
                "template": {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "u"}}},
            },
        });
        let of_job = copy(&job);
        assert_eq!(of_job["spec"], json!({"template": {"metadata": {}}}));
        assert_eq!(of_job["metadata"]["labels"], json!({"app": "b"}));
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
            "name": "a", "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        }, "spec": {"volumeName": "pv-1", "storageClassName": "fast"}});
        assert_eq!(copy(&claim)["spec"], json!({"storageClassName": "fast"}));
        assert_eq!(copy(&claim)["metadata"], metadata);
    }

    #[test]
    fn labels_of_another_name_are_removed_on_request() {
        let labels = Labels { parent_uid: "x/p".to_owned(), managed_by: "x/m".to_owned() };
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "a", "labels": {"x/p": "p", "x/m": "m", "y": "z"},
        }});
        let copy = ObjectCopy::of(&object).unwrap().without_labels(&labels).into_value();
        assert_eq!(copy["metadata"]["labels"], json!({"y": "z"}));
    }

    #[test]
    fn what_cannot_be_copied_is_refused_with_the_reason() {
        for (object, missing) in [
            (json!({"kind": "Secret", "metadata": {"name": "a"}}), "apiVersion"),
            (json!({"apiVersion": "v1", "metadata": {"name": "a"}}), "kind"),
            (json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}}), "metadata.name"),
            (json!("s3cret"), "apiVersion"),
        ] {
            assert_eq!(ObjectCopy::of(&object), Err(CopyError::Missing(missing)));
        }
        let token = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"},
            "type": "kubernetes.io/service-account-token"});
        assert_eq!(ObjectCopy::of(&token), Err(CopyError::ServiceAccountToken("t".to_owned())));
    }
}
