//! The known facts of an object that cannot be decoded: its identity and owners, never its content.
//! Everything is optional, and nothing is guessed.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;

use super::{K8sType, ObjectKey, ResourceVersion, Uid, json::RawFields};

/// An object that cannot be decoded. `Debug` and `Display` show which one and why, never its
/// content. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Undecodable(Arc<Details>);

struct Details {
    ty: K8sType,
    key: Option<ObjectKey>,
    uid: Option<Uid>,
    version: Option<ResourceVersion>,
    labels: Option<BTreeMap<String, String>>,
    owners: Vec<Uid>,
    why: String,
}

/// The longest name that Kubernetes allows.
const MAX_NAME: usize = 253;

/// Labels or owners of more bytes are not kept.
const MAX_TEXT: usize = 64 << 10;

impl Undecodable {
    /// What can be read from a JSON text. `why` must not quote it.
    pub(crate) fn read(ty: &K8sType, text: &str, why: String) -> Self {
        Self::within(ty.is_namespaced(), ty, text, why)
    }

    /// The same of an object with another scope than its type is declared with, whose name is complete.
    pub(crate) fn misplaced(ty: &K8sType, text: &str, why: String) -> Self {
        Self::within(!ty.is_namespaced(), ty, text, why)
    }

    fn within(is_namespaced: bool, ty: &K8sType, text: &str, why: String) -> Self {
        let Some(metadata) = metadata(text) else { return Self::unknown(ty, why) };
        let text = |name: &str| {
            let text = metadata.text(name).ok()??.into_owned();
            let is_whole = !text.contains(char::REPLACEMENT_CHARACTER);
            ((1..=MAX_NAME).contains(&text.len()) && is_whole).then_some(text)
        };
        Self(Arc::new(Details {
            key: key(is_namespaced, text("namespace").as_deref(), text("name").as_deref()),
            uid: text("uid").map(|uid| Uid::new(&uid)),
            version: text("resourceVersion").map(|version| ResourceVersion::new(&version)),
            labels: labels(metadata.get("labels")),
            owners: owners(metadata.get("ownerReferences")),
            ty: ty.clone(),
            why,
        }))
    }

    /// An object of which only the type is known.
    pub(crate) fn unknown(ty: &K8sType, why: String) -> Self {
        let (ty, owners) = (ty.clone(), Vec::new());
        Self(Arc::new(Details {
            ty,
            key: None,
            uid: None,
            version: None,
            labels: None,
            owners,
            why,
        }))
    }

    pub(crate) fn ty(&self) -> &K8sType {
        &self.0.ty
    }

    /// Its key, if it can be read completely.
    pub(crate) fn key(&self) -> Option<&ObjectKey> {
        self.0.key.as_ref()
    }

    pub(crate) fn uid(&self) -> Option<&Uid> {
        self.0.uid.as_ref()
    }

    /// The version that cannot be decoded.
    pub(crate) fn resource_version(&self) -> Option<&ResourceVersion> {
        self.0.version.as_ref()
    }

    /// Its labels, if they can be read; empty where it has none.
    pub(crate) fn labels(&self) -> Option<&BTreeMap<String, String>> {
        self.0.labels.as_ref()
    }

    /// The uids in its owner references that can be read.
    pub(crate) fn owners(&self) -> &[Uid] {
        &self.0.owners
    }

    /// Why it cannot be decoded.
    pub(crate) fn why(&self) -> &str {
        &self.0.why
    }
}

fn metadata(text: &str) -> Option<RawFields<'_>> {
    let fields: RawFields<'_> = serde_json::from_str(text).ok()?;
    serde_json::from_str(fields.get("metadata")?).ok()
}

/// An incomplete name could be that of another object, and an invalid one could change a URL.
fn key(is_namespaced: bool, namespace: Option<&str>, name: Option<&str>) -> Option<ObjectKey> {
    let is_name = |text: &str| {
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        text.bytes().all(is_good) && !text.starts_with('.')
    };
    let fits = is_namespaced == namespace.is_some();
    let name = name.filter(|name| fits && is_name(name) && namespace.is_none_or(is_name))?;
    Some(ObjectKey::new(namespace, name))
}

fn labels(text: Option<&str>) -> Option<BTreeMap<String, String>> {
    let text = text.unwrap_or("null");
    let labels: Option<_> = serde_json::from_str(text).ok().filter(|_| text.len() <= MAX_TEXT)?;
    Some(labels.unwrap_or_default())
}

fn owners(text: Option<&str>) -> Vec<Uid> {
    let text = text.filter(|text| text.len() <= MAX_TEXT);
    let references: Option<Vec<Value>> = text.and_then(|text| serde_json::from_str(text).ok());
    let references = references.unwrap_or_default().into_iter();
    references.filter_map(|owner| Some(Uid::new(owner["uid"].as_str()?))).collect()
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { ty, key, why, .. } = &*self.0;
        match key {
            Some(key) => write!(f, "{ty} {key} cannot be decoded and is ignored: {why}"),
            None => write!(f, "an object of {ty} cannot be decoded and is ignored: {why}"),
        }
    }
}

impl fmt::Debug for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{KeptManagers, Object};

    fn ty() -> K8sType {
        K8sType::namespaced("v1", "Secret", "secrets")
    }

    fn good() -> Value {
        json!({"metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7",
            "generation": 1, "labels": {"l": "v"},
            "ownerReferences": [{"uid": "o", "controller": true}]}, "data": {"key": "hidden"}})
    }

    /// What is known of the good object when one of its fields is changed.
    fn broken(pointer: &str, value: Value) -> Undecodable {
        let mut object = good();
        *object.pointer_mut(pointer).unwrap() = value;
        let text = object.to_string();
        let error = Object::parse(&ty(), &text, &KeptManagers::default()).unwrap_err();
        Undecodable::read(&ty(), &text, error.to_string())
    }

    /// Key, uid, version, how many labels, owners.
    fn known(it: &Undecodable) -> String {
        let Details { key, uid, version, labels, owners, .. } = &*it.0;
        format!("{key:?} {uid:?} {version:?} {:?} {owners:?}", labels.as_ref().map(BTreeMap::len))
    }

    #[test]
    fn each_readable_field_is_known_whichever_other_is_invalid() {
        for (pointer, value, expected) in [
            ("/metadata/generation", json!("x"), "Some(ns/a) Some(u) Some(7) Some(1) [o]"),
            ("/metadata/uid", json!(""), "Some(ns/a) None Some(7) Some(1) [o]"),
            ("/metadata/uid", json!(7), "Some(ns/a) None Some(7) Some(1) [o]"),
            ("/metadata/resourceVersion", json!(7), "Some(ns/a) Some(u) None Some(1) [o]"),
            ("/metadata/name", json!(""), "None Some(u) Some(7) Some(1) [o]"),
            ("/metadata/name", json!({}), "None Some(u) Some(7) Some(1) [o]"),
            ("/metadata/namespace", json!([]), "None Some(u) Some(7) Some(1) [o]"),
            ("/metadata/ownerReferences", json!("x"), "Some(ns/a) Some(u) Some(7) Some(1) []"),
            (
                "/metadata/ownerReferences/0/controller",
                json!("yes"),
                "Some(ns/a) Some(u) Some(7) Some(1) [o]",
            ),
            ("/metadata", json!(7), "None None None None []"),
            ("/metadata", json!("hidden"), "None None None None []"),
        ] {
            let undecodable = broken(pointer, value);
            assert_eq!(known(&undecodable), expected, "{pointer}");
            for text in [undecodable.to_string(), format!("{undecodable:?}")] {
                assert!(!text.contains("hidden") && text.contains("cannot be decoded"), "{text}");
            }
        }
    }

    #[test]
    fn unreadable_labels_are_not_taken_for_missing() {
        let mut object = good();
        object["metadata"]["labels"] = json!({"l": 7});
        let read = |object: &Value| Undecodable::read(&ty(), &object.to_string(), String::new());
        assert!(read(&object).labels().is_none());
        object["metadata"]["labels"] = json!({"l": "x".repeat(MAX_TEXT)});
        assert!(read(&object).labels().is_none());
        object["metadata"].as_object_mut().unwrap().remove("labels");
        assert!(read(&object).labels().unwrap().is_empty());
    }

    #[test]
    fn an_invalid_name_is_not_accepted() {
        for name in ["a/b", "..", ".", "a?b", "a b", "ä"] {
            assert_eq!(key(true, Some("ns"), Some(name)), None, "{name}");
            assert_eq!(key(true, Some(name), Some("a")), None, "{name}");
        }
        assert_eq!(key(false, None, Some("a:b")), Some(ObjectKey::cluster("a:b")));
        assert_eq!(key(false, Some("ns"), Some("a")), None);
        assert_eq!(key(true, None, Some("a")), None);
    }
}
