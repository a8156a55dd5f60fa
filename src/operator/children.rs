//! The children of a parent as its handler sees them.

use std::{fmt, marker::PhantomData};

use serde::de::DeserializeOwned;

use crate::object::{K8sType, Object, ObjectKey, ResourceScope};

/// The observed children of one parent: one entry per declared type, each sorted by key.
#[derive(Clone, Default)]
pub struct Children(Vec<ChildrenOfType>);

#[derive(Clone)]
struct ChildrenOfType {
    ty: K8sType,
    objects: Vec<Object>,
}

impl Children {
    /// The children of the given types; each list is sorted here.
    pub fn new(types: impl IntoIterator<Item = (K8sType, Vec<Object>)>) -> Self {
        let of_type = |(ty, mut objects): (K8sType, Vec<Object>)| {
            objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
            ChildrenOfType { ty, objects }
        };
        Self(types.into_iter().map(of_type).collect())
    }

    /// The children of a type; empty for a type that was not declared.
    pub fn of_type(&self, ty: &K8sType) -> RawView<'_> {
        let objects = self.0.iter().find(|children| children.ty == *ty);
        RawView(objects.map_or(&[], |children| &children.objects))
    }

    /// The children of a Rust type; empty for a type that was not declared.
    pub fn with_type<C>(&self) -> TypedView<'_, C>
    where
        C: kube::Resource<DynamicType = ()> + DeserializeOwned,
        C::Scope: ResourceScope,
    {
        TypedView { raw: self.of_type(&K8sType::of::<C>()), ty: PhantomData }
    }

    /// All children, type by type in the order of declaration, each by key.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.0.iter().flat_map(|children| &children.objects)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|children| children.objects.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The children of one type as they are cached.
#[derive(Debug, Clone, Copy)]
pub struct RawView<'a>(&'a [Object]);

impl<'a> RawView<'a> {
    /// The child with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&'a Object> {
        self.0.binary_search_by(|object| object.key().cmp(key)).ok().map(|at| &self.0[at])
    }

    /// The child with this name, in whatever namespace comes first.
    pub fn named(&self, name: &str) -> Option<&'a Object> {
        self.0.iter().find(|object| object.name() == name)
    }

    /// The first child by key.
    pub fn first(&self) -> Option<&'a Object> {
        self.0.first()
    }

    /// All of them, by key.
    #[expect(clippy::iter_without_into_iter, reason = "the view is Copy and iterates by value")]
    pub fn iter(&self) -> std::slice::Iter<'a, Object> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for RawView<'a> {
    type Item = &'a Object;
    type IntoIter = std::slice::Iter<'a, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// The children of one type as a Rust type. Each access parses.
#[derive(Debug, Clone, Copy)]
pub struct TypedView<'a, C> {
    raw: RawView<'a>,
    ty: PhantomData<fn() -> C>,
}

impl<'a, C: DeserializeOwned> TypedView<'a, C> {
    /// The child with this name, in whatever namespace comes first.
    ///
    /// # Errors
    /// When the object does not fit the Rust type.
    pub fn named(&self, name: &str) -> serde_json::Result<Option<C>> {
        self.raw.named(name).map(Object::parse_as).transpose()
    }

    /// The first child by key.
    ///
    /// # Errors
    /// When the object does not fit the Rust type.
    pub fn first(&self) -> serde_json::Result<Option<C>> {
        self.raw.first().map(Object::parse_as).transpose()
    }

    /// All of them, by key.
    pub fn iter(&self) -> impl Iterator<Item = serde_json::Result<C>> + use<'a, C> {
        self.raw.iter().map(Object::parse_as)
    }

    /// The same children as they are cached.
    pub fn raw(&self) -> RawView<'a> {
        self.raw
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;
    use crate::object::KeptManagers;

    fn config_map(namespace: &str, name: &str) -> Object {
        let ty = K8sType::of::<ConfigMap>();
        let value = json!({"metadata": {
            "name": name, "namespace": namespace, "uid": name, "resourceVersion": "1",
        }, "data": {"k": name}});
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    #[test]
    fn children_are_found_by_key_name_and_type() {
        let objects = vec![config_map("b", "x"), config_map("a", "y"), config_map("a", "x")];
        let children = Children::new([(K8sType::of::<ConfigMap>(), objects)]);
        let raw = children.of_type(&K8sType::of::<ConfigMap>());
        let keys: Vec<_> = raw.iter().map(|object| object.key().to_string()).collect();
        assert_eq!(keys, ["a/x", "a/y", "b/x"]);
        assert!(raw.get(&ObjectKey::namespaced("b", "x")).is_some());
        assert!(raw.get(&ObjectKey::namespaced("b", "y")).is_none());
        let typed = children.with_type::<ConfigMap>();
        assert_eq!(typed.named("y").unwrap().unwrap().data.unwrap()["k"], "y");
        assert!(children.with_type::<Secret>().is_empty());
    }
}
