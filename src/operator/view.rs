//! The children of one type, cached or as a Rust type. Borrows, copies nothing.

use std::{iter::Map, marker::PhantomData, slice};

use serde::de::DeserializeOwned;

use super::key_index::{KeyIndex, binary_search};
use crate::object::{K8sType, KeyRef, Object, ParseAsError};

/// The cached children of one type, by namespace and name.
#[derive(Debug, Clone, Copy, Default)]
pub struct RawView<'a> {
    of: Option<(&'a K8sType, &'a KeyIndex)>,
    objects: &'a [Object],
}

/// The children of one type as a Rust type. Each access parses.
#[derive(Debug)]
pub struct TypedView<'a, C> {
    raw: RawView<'a>,
    ty: PhantomData<fn() -> C>,
}

/// The children of one type, parsed one by one.
pub type TypedIter<'a, C> = Map<slice::Iter<'a, Object>, fn(&'a Object) -> Result<C, ParseAsError>>;

impl<'a> RawView<'a> {
    /// A view of objects that are sorted by key, with their index.
    pub(super) fn new(ty: &'a K8sType, objects: &'a [Object], by_key: &'a KeyIndex) -> Self {
        Self { of: Some((ty, by_key)), objects }
    }

    /// The type; `None` when it was not declared.
    pub fn ty(&self) -> Option<&'a K8sType> {
        self.of.map(|(ty, _)| ty)
    }

    /// The child with this key: `("namespace", "name")`, a name alone if it is cluster-scoped, or
    /// an [`ObjectKey`](crate::object::ObjectKey).
    pub fn get<'k>(&self, key: impl Into<KeyRef<'k>>) -> Option<&'a Object> {
        let (_, by_key) = self.of?;
        by_key.find(self.objects, key.into())
    }

    /// Whether there is a child with this key.
    pub fn exists<'k>(&self, key: impl Into<KeyRef<'k>>) -> bool {
        self.get(key).is_some()
    }

    /// The child with this name in the first namespace that has one.
    pub fn named(&self, name: &str) -> Option<&'a Object> {
        let mut rest = self.objects;
        while let Some(first) = rest.first() {
            let namespace = first.namespace();
            if let Some(found) = binary_search(rest, KeyRef { namespace, name }) {
                return Some(found);
            }
            rest = &rest[rest.partition_point(|object| object.namespace() <= namespace)..];
        }
        None
    }

    /// The first child by key.
    pub fn first(&self) -> Option<&'a Object> {
        self.objects.first()
    }

    /// All of them, by key.
    #[expect(clippy::iter_without_into_iter, reason = "the view is Copy and iterates by value")]
    pub fn iter(&self) -> slice::Iter<'a, Object> {
        self.objects.iter()
    }

    /// The same children as a Rust type.
    pub fn as_type<C: DeserializeOwned>(self) -> TypedView<'a, C> {
        TypedView { raw: self, ty: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl<'a> IntoIterator for RawView<'a> {
    type Item = &'a Object;
    type IntoIter = slice::Iter<'a, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}

impl<'a, C: DeserializeOwned> TypedView<'a, C> {
    /// The child with this key, see [`RawView::get`].
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn get<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Option<C>, ParseAsError> {
        self.raw.get(key).map(Object::parse_as).transpose()
    }

    /// Whether there is a child with this key.
    pub fn exists<'k>(&self, key: impl Into<KeyRef<'k>>) -> bool {
        self.raw.exists(key)
    }

    /// The child with this name in the first namespace that has one.
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn named(&self, name: &str) -> Result<Option<C>, ParseAsError> {
        self.raw.named(name).map(Object::parse_as).transpose()
    }

    /// The first child by key.
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn first(&self) -> Result<Option<C>, ParseAsError> {
        self.raw.first().map(Object::parse_as).transpose()
    }

    /// All of them, by key.
    #[expect(clippy::iter_without_into_iter, reason = "the view is Copy and iterates by value")]
    pub fn iter(&self) -> TypedIter<'a, C> {
        self.raw.iter().map(Object::parse_as)
    }

    /// The same children without a Rust type.
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

impl<'a, C: DeserializeOwned> IntoIterator for TypedView<'a, C> {
    type Item = Result<C, ParseAsError>;
    type IntoIter = TypedIter<'a, C>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

// Not derived: that would require `C: Clone`.
impl<C> Clone for TypedView<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for TypedView<'_, C> {}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;
    use crate::{
        object::{KeptManagers, ObjectKey},
        operator::Children,
    };

    fn config_map(namespace: &str, name: &str) -> Object {
        let ty = K8sType::of::<ConfigMap>();
        let value = json!({"metadata": {
            "name": name, "namespace": namespace, "uid": name, "resourceVersion": "1",
        }, "data": {"k": format!("{namespace}/{name}")}});
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    fn children() -> Children {
        let keys = [("b", "x"), ("a", "y"), ("a", "x"), ("c", "w"), ("c", "z")];
        let objects = keys.map(|(namespace, name)| config_map(namespace, name)).to_vec();
        Children::new([(K8sType::of::<ConfigMap>(), objects)])
    }

    #[test]
    fn children_are_found_by_key() {
        let children = children();
        let raw = children.of_type(&K8sType::of::<ConfigMap>());
        let keys: Vec<_> = raw.iter().map(|object| object.key().to_string()).collect();
        assert_eq!(keys, ["a/x", "a/y", "b/x", "c/w", "c/z"]);
        for object in raw {
            assert_eq!(raw.get(object.key()), Some(object));
        }
        assert!(raw.exists(("b", "x")) && raw.exists(&ObjectKey::namespaced("a", "y")));
        assert!(!raw.exists(("b", "y")) && !raw.exists(("", "x")) && !raw.exists("x"));
    }

    #[test]
    fn many_children_are_found_by_key_also_after_one_more() {
        let key = |number: usize| (["a", "b"][number % 2], format!("{number:04}"));
        let child = |number: usize| {
            let (namespace, name) = key(number);
            config_map(namespace, &name)
        };
        let all = (0..500).map(child).collect();
        let mut children = Children::new([(K8sType::of::<ConfigMap>(), all)]);
        for more in [500, 501] {
            let raw = children.of_type(("v1", "ConfigMap"));
            for number in 0..more {
                let (namespace, name) = key(number);
                assert_eq!(raw.get((namespace, &*name)), Some(&child(number)));
            }
            assert!(
                !raw.exists(("a", "0001")) && !raw.exists("0000") && !raw.exists(("a", "0501"))
            );
            children.insert(child(500));
        }
    }

    #[test]
    fn children_are_found_by_name_in_the_first_namespace_that_has_it() {
        let children = children();
        let raw = children.of_type(("v1", "ConfigMap"));
        for (name, key) in [("x", "a/x"), ("y", "a/y"), ("w", "c/w"), ("z", "c/z")] {
            assert_eq!(raw.named(name).unwrap().key().to_string(), key);
        }
        assert!(raw.named("v").is_none());
    }

    #[test]
    fn a_typed_view_parses_what_it_returns() {
        let children = children();
        let typed = children.with_type::<ConfigMap>();
        let data = |config_map: Option<ConfigMap>| config_map.unwrap().data.unwrap()["k"].clone();
        assert_eq!(data(typed.first().unwrap()), "a/x");
        assert_eq!(data(typed.named("z").unwrap()), "c/z");
        assert_eq!(data(typed.get(("b", "x")).unwrap()), "b/x");
        assert!(typed.get(("b", "y")).unwrap().is_none() && typed.exists(("b", "x")));
        let all: Vec<_> = typed.into_iter().map(|parsed| data(parsed.ok())).collect();
        assert_eq!((all.len(), typed.len()), (5, 5));
        let misfit = typed.raw().as_type::<Vec<u8>>();
        assert!(misfit.first().is_err() && misfit.iter().all(|parsed| parsed.is_err()));
    }

    #[test]
    fn a_type_that_was_not_declared_has_no_children() {
        let children = children();
        assert!(children.with_type::<Secret>().is_empty());
        let raw = children.of_type(("v0", "Nothing"));
        assert!(raw.is_empty() && raw.first().is_none() && raw.ty().is_none());
        assert!(raw.get(("a", "x")).is_none() && raw.named("x").is_none());
    }
}
