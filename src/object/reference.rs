//! Borrowed names of types and objects, for look-ups without allocation.

use serde_json::Value;

use super::{K8sType, ObjectKey};

/// The `apiVersion` and `kind` of an object. Made from `("v1", "Pod")`, or from a [`K8sType`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeRef<'a> {
    /// `v1` or `group/version`.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

/// Namespace and name. Made from `("namespace", "name")`, of a name alone for what is
/// cluster-scoped, or of an [`ObjectKey`]. An empty namespace is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyRef<'a> {
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<&'a str>,
    /// The name.
    pub name: &'a str,
}

impl<'a> TypeRef<'a> {
    /// The type of an object in JSON; `None` if a field is missing.
    pub fn in_value(object: &'a Value) -> Option<Self> {
        let text = |field: &str| object.get(field).and_then(Value::as_str);
        Some(Self { api_version: text("apiVersion")?, kind: text("kind")? })
    }
}

impl<'a> KeyRef<'a> {
    /// The key of an object in JSON; `None` if it has no name.
    pub fn in_value(object: &'a Value) -> Option<Self> {
        let text = |field: &str| object.get("metadata")?.get(field)?.as_str();
        Some(Self::from((text("namespace").unwrap_or_default(), text("name")?)))
    }
}

impl<'a> From<(&'a str, &'a str)> for TypeRef<'a> {
    fn from((api_version, kind): (&'a str, &'a str)) -> Self {
        Self { api_version, kind }
    }
}

impl<'a> From<&'a K8sType> for TypeRef<'a> {
    fn from(ty: &'a K8sType) -> Self {
        Self { api_version: ty.api_version(), kind: ty.kind() }
    }
}

impl<'a> From<(&'a str, &'a str)> for KeyRef<'a> {
    fn from((namespace, name): (&'a str, &'a str)) -> Self {
        Self { namespace: Some(namespace).filter(|namespace| !namespace.is_empty()), name }
    }
}

impl<'a> From<&'a str> for KeyRef<'a> {
    fn from(name: &'a str) -> Self {
        Self { namespace: None, name }
    }
}

impl<'a> From<&'a ObjectKey> for KeyRef<'a> {
    fn from(key: &'a ObjectKey) -> Self {
        Self { namespace: key.namespace.as_deref(), name: &key.name }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_from_json() {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
        assert_eq!(TypeRef::in_value(&object), Some(("v1", "Pod").into()));
        assert_eq!(KeyRef::in_value(&object), Some("a".into()));
        for odd in [json!({}), json!([]), json!({"metadata": {"name": 1}, "kind": "Pod"})] {
            assert_eq!((TypeRef::in_value(&odd), KeyRef::in_value(&odd)), (None, None), "{odd}");
        }
    }

    #[test]
    fn borrowed_keys_sort_as_owned_ones() {
        let keys = ["b", "a/y", "a/x", "a", "b/x"].map(|key| key.parse::<ObjectKey>().unwrap());
        let mut owned = keys.clone();
        owned.sort();
        let mut borrowed = keys.each_ref().map(KeyRef::from);
        borrowed.sort();
        assert_eq!(borrowed, owned.each_ref().map(KeyRef::from));
    }
}
