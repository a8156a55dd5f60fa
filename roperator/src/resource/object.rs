//! An object that exists in the cluster, as a JSON tree.

use std::{borrow::Borrow, fmt, ops::Deref};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{K8sTypeRef, ObjectIdRef, ResourceJson};
use crate::k8s_types::K8sType;

/// An object that exists in the cluster: a JSON tree with a name, a uid and a version.
///
/// `Debug` names it, and `Display` shows its content, which may be that of a Secret.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct K8sResource(Value);

/// A JSON value lacks what every existing object has. `Debug` and `Display` do not show the value.
#[derive(Clone, PartialEq)]
pub struct InvalidResourceError {
    /// What is missing.
    pub message: &'static str,
    /// The value.
    pub value: Value,
}

/// The texts that every object has: where, and what is said when it is missing.
const REQUIRED: [(&str, &str); 5] = [
    ("/metadata/resourceVersion", "missing metadata.resourceVersion"),
    ("/metadata/name", "missing metadata.name"),
    ("/metadata/uid", "missing metadata.uid"),
    ("/apiVersion", "missing apiVersion"),
    ("/kind", "missing kind"),
];

impl InvalidResourceError {
    /// An error with what is missing.
    pub fn new(message: &'static str, value: Value) -> Self {
        Self { message, value }
    }
}

impl K8sResource {
    /// An object of its JSON.
    ///
    /// # Errors
    /// A name, a uid, a version, `apiVersion` or `kind` is missing or no text.
    pub fn from_value(value: Value) -> Result<Self, InvalidResourceError> {
        let is_text = |pointer: &str| value.pointer(pointer).is_some_and(Value::is_string);
        match REQUIRED.into_iter().find(|(pointer, _)| !is_text(pointer)) {
            Some((_, message)) => Err(InvalidResourceError { message, value }),
            None => Ok(Self(value)),
        }
    }

    /// The object as a Rust type.
    ///
    /// # Errors
    /// It does not fit the type.
    pub fn into_type<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_value(self.0)
    }

    /// The JSON.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// Whether it has this namespace and name.
    pub fn is_id(&self, id: &ObjectIdRef<'_>) -> bool {
        self.get_object_id() == *id
    }

    /// Whether it is of this type.
    pub fn is_type(&self, k8s_type: &K8sType) -> bool {
        self.get_type_ref() == *k8s_type
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(&self) -> &str {
        self.text("/metadata/resourceVersion")
    }

    /// The value of a label.
    pub fn get_label_value(&self, label: &str) -> Option<&str> {
        self.0.pointer("/metadata/labels")?.get(label)?.as_str()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// `metadata.namespace`; `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.str_value("/metadata/namespace")
    }

    /// `apiVersion`.
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion")
    }

    /// `kind`.
    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    /// The status, whatever JSON it is.
    pub fn status(&self) -> Option<&Value> {
        self.0.get("status")
    }

    /// Namespace and name.
    pub fn get_object_id(&self) -> ObjectIdRef<'_> {
        ObjectIdRef::new(self.namespace().unwrap_or_default(), self.name())
    }

    /// `apiVersion` and `kind`.
    pub fn get_type_ref(&self) -> K8sTypeRef<'_> {
        K8sTypeRef(self.api_version(), self.kind())
    }

    /// `metadata.generation`; -1 where there is none.
    pub fn generation(&self) -> i64 {
        self.0.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(-1)
    }

    /// Whether the object is being deleted.
    pub fn is_deletion_timestamp_set(&self) -> bool {
        self.0.pointer("/metadata/deletionTimestamp").is_some()
    }

    /// The text at a JSON pointer.
    pub fn str_value(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer)?.as_str()
    }

    /// A text that every object has.
    fn text(&self, pointer: &str) -> &str {
        self.str_value(pointer).unwrap_or_default()
    }
}

impl ResourceJson for K8sResource {
    fn get_api_version(&self) -> Option<&str> {
        Some(self.api_version())
    }

    fn get_kind(&self) -> Option<&str> {
        Some(self.kind())
    }

    fn get_namespace(&self) -> Option<&str> {
        self.namespace()
    }

    fn get_name(&self) -> Option<&str> {
        Some(self.name())
    }
}

impl AsRef<Value> for K8sResource {
    fn as_ref(&self) -> &Value {
        &self.0
    }
}

impl Borrow<Value> for K8sResource {
    fn borrow(&self) -> &Value {
        &self.0
    }
}

impl Deref for K8sResource {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl TryFrom<Value> for K8sResource {
    type Error = InvalidResourceError;

    fn try_from(value: Value) -> Result<Self, InvalidResourceError> {
        Self::from_value(value)
    }
}

impl From<K8sResource> for Value {
    fn from(resource: K8sResource) -> Self {
        resource.0
    }
}

impl fmt::Debug for K8sResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} @{}", self.kind(), self.get_object_id(), self.resource_version())
    }
}

impl fmt::Display for K8sResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for InvalidResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for InvalidResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an object of a cluster: {}", self.message)
    }
}

impl std::error::Error for InvalidResourceError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {
                "namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "7",
                "labels": {"app": "b"},
            },
            "data": {"key": "s3cret"},
        })
    }

    #[test]
    fn an_object_is_read_without_a_type() {
        let object = K8sResource::from_value(secret()).unwrap();
        assert!(object.is_id(&ObjectIdRef::new("ns", "a")));
        assert!(object.is_type(crate::k8s_types::core::v1::Secret));
        assert_eq!((object.uid(), object.resource_version(), object.generation()), ("u", "7", -1));
        assert_eq!((object.get_label_value("app"), object.get_label_value("b")), (Some("b"), None));
        assert_eq!(object.pointer("/data/key"), Some(&json!("s3cret")), "as a JSON value");
        assert_eq!(Value::from(object), secret());
    }

    #[test]
    fn what_is_no_object_is_refused_and_not_quoted() {
        for (pointer, message) in REQUIRED {
            let mut value = secret();
            *value.pointer_mut(pointer).unwrap() = json!(7);
            let error = K8sResource::from_value(value.clone()).unwrap_err();
            assert_eq!((error.message, &error.value), (message, &value));
            assert!(!format!("{error} {error:?}").contains("s3cret"));
            assert!(serde_json::from_value::<K8sResource>(value).is_err());
        }
    }

    #[test]
    fn debug_names_an_object_and_display_shows_it() {
        let object = K8sResource::from_value(secret()).unwrap();
        assert_eq!(format!("{object:?}"), "Secret ns/a @7");
        assert!(object.to_string().contains("s3cret"));
    }
}
