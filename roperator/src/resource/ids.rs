//! The names of objects and types. An empty namespace is none.

use std::fmt;

use crate::k8s_types::K8sType;

/// The namespace and name of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectId {
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A borrowed [`ObjectId`]. Functions take `impl Into<ObjectIdRef>`: also `("namespace", "name")`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectIdRef<'a> {
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// The `apiVersion` and `kind` of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct K8sTypeRef<'a>(pub &'a str, pub &'a str);

impl ObjectId {
    /// An id of its parts.
    pub fn new(namespace: String, name: String) -> Self {
        Self { namespace, name }
    }

    /// The same, borrowed.
    pub fn as_id_ref(&self) -> ObjectIdRef<'_> {
        ObjectIdRef { namespace: &self.namespace, name: &self.name }
    }

    /// The namespace; `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.as_id_ref().namespace()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<'a> ObjectIdRef<'a> {
    /// An id of its parts.
    pub fn new(namespace: &'a str, name: &'a str) -> Self {
        Self { namespace, name }
    }

    /// The same, owned.
    pub fn to_owned(&self) -> ObjectId {
        ObjectId::new(self.namespace.to_owned(), self.name.to_owned())
    }

    /// The namespace; `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&'a str> {
        Some(self.namespace).filter(|namespace| !namespace.is_empty())
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        self.name
    }
}

impl<'a> K8sTypeRef<'a> {
    /// A type of its parts.
    pub fn new(api_version: &'a str, kind: &'a str) -> Self {
        Self(api_version, kind)
    }

    /// `apiVersion` and `kind`.
    pub fn as_parts(&self) -> (&str, &str) {
        (self.0, self.1)
    }

    /// `v1` or `group/version`.
    pub fn api_version(&self) -> &str {
        self.0
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        self.1
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_id_ref().fmt(f)
    }
}

impl fmt::Display for ObjectIdRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl fmt::Display for K8sTypeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl<'a> PartialEq<ObjectIdRef<'a>> for ObjectId {
    fn eq(&self, other: &ObjectIdRef<'a>) -> bool {
        self.as_id_ref() == *other
    }
}

impl PartialEq<ObjectId> for ObjectIdRef<'_> {
    fn eq(&self, other: &ObjectId) -> bool {
        *self == other.as_id_ref()
    }
}

impl PartialEq<K8sType> for K8sTypeRef<'_> {
    fn eq(&self, other: &K8sType) -> bool {
        *self == other.to_type_ref()
    }
}

impl<'a> From<&'a ObjectId> for ObjectIdRef<'a> {
    fn from(id: &'a ObjectId) -> Self {
        id.as_id_ref()
    }
}

impl<'a> From<&ObjectIdRef<'a>> for ObjectIdRef<'a> {
    fn from(id: &ObjectIdRef<'a>) -> Self {
        id.clone()
    }
}

impl<'a> From<(&'a str, &'a str)> for ObjectIdRef<'a> {
    fn from((namespace, name): (&'a str, &'a str)) -> Self {
        Self { namespace, name }
    }
}

impl From<&K8sType> for K8sTypeRef<'_> {
    fn from(ty: &K8sType) -> Self {
        ty.to_type_ref()
    }
}

impl<'a> From<(&'a str, &'a str)> for K8sTypeRef<'a> {
    fn from((api_version, kind): (&'a str, &'a str)) -> Self {
        Self(api_version, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_namespace_is_none() {
        let (with, without) = (ObjectIdRef::new("ns", "a"), ObjectIdRef::from(("", "a")));
        assert_eq!((with.namespace(), without.namespace()), (Some("ns"), None));
        assert_eq!((with.to_string(), without.to_string()), ("ns/a".into(), "/a".into()));
        assert_eq!(with.to_owned(), with);
        assert_eq!(without, without.to_owned());
    }

    #[test]
    fn a_type_is_named_by_its_constant_or_a_pair() {
        let pod = crate::k8s_types::core::v1::Pod;
        assert_eq!(K8sTypeRef::from(pod), K8sTypeRef::from(("v1", "Pod")));
        assert_eq!(K8sTypeRef::new("v1", "Pod"), *pod);
        assert_ne!(K8sTypeRef::new("v2", "Pod"), *pod);
    }
}
