//! The children of one type, cached or as a Rust type. Borrows, copies nothing.

use std::{fmt, marker::PhantomData, ops::Range, slice};

use serde::de::DeserializeOwned;

use super::children_of_type::ChildrenOfType;
use crate::object::{K8sType, KeyRef, Object, ParseAsError};

/// The cached children of one type, by namespace and name.
#[derive(Clone, Copy, Default)]
pub struct RawView<'a>(Option<&'a ChildrenOfType>);

/// The children of one type as a Rust type. Each is parsed at its first access, once per request.
pub struct TypedView<'a, C> {
    raw: RawView<'a>,
    ty: PhantomData<fn() -> C>,
}

/// The children of one type as a Rust type, by key.
pub struct TypedIter<'a, C> {
    view: TypedView<'a, C>,
    positions: Range<usize>,
}

impl<'a> RawView<'a> {
    /// A view of the children of a type; `None` when it was not declared.
    pub(super) fn new(of: Option<&'a ChildrenOfType>) -> Self {
        Self(of)
    }

    /// The type; `None` when it was not declared.
    pub fn ty(&self) -> Option<&'a K8sType> {
        self.0.map(|of| &of.ty)
    }

    /// The child with this key: `("namespace", "name")`, a name alone if it is cluster-scoped, or
    /// an [`ObjectKey`](crate::object::ObjectKey).
    pub fn get<'k>(&self, key: impl Into<KeyRef<'k>>) -> Option<&'a Object> {
        let of = self.0?;
        of.objects.get(of.find(key.into())?)
    }

    /// Whether there is a child with this key.
    pub fn exists<'k>(&self, key: impl Into<KeyRef<'k>>) -> bool {
        self.get(key).is_some()
    }

    /// The child with this name in the first namespace that has one.
    pub fn named(&self, name: &str) -> Option<&'a Object> {
        let of = self.0?;
        of.objects.get(of.named(name)?)
    }

    /// The first child by key.
    pub fn first(&self) -> Option<&'a Object> {
        self.objects().first()
    }

    /// All of them, by key.
    #[expect(clippy::iter_without_into_iter, reason = "the view is Copy and iterates by value")]
    pub fn iter(&self) -> slice::Iter<'a, Object> {
        self.objects().iter()
    }

    /// The same children as a Rust type.
    pub fn as_type<C: DeserializeOwned + Send + Sync + 'static>(self) -> TypedView<'a, C> {
        TypedView { raw: self, ty: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.objects().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects().is_empty()
    }

    fn objects(self) -> &'a [Object] {
        self.0.map(|of| &*of.objects).unwrap_or_default()
    }
}

impl<'a> IntoIterator for RawView<'a> {
    type Item = &'a Object;
    type IntoIter = slice::Iter<'a, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, C: DeserializeOwned + Send + Sync + 'static> TypedView<'a, C> {
    /// The child with this key, see [`RawView::get`].
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn get<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<Option<&'a C>, ParseAsError> {
        self.parsed(self.raw.0.and_then(|of| of.find(key.into())))
    }

    /// Whether there is a child with this key.
    pub fn exists<'k>(&self, key: impl Into<KeyRef<'k>>) -> bool {
        self.raw.exists(key)
    }

    /// The child with this name in the first namespace that has one.
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn named(&self, name: &str) -> Result<Option<&'a C>, ParseAsError> {
        self.parsed(self.raw.0.and_then(|of| of.named(name)))
    }

    /// The first child by key.
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    pub fn first(&self) -> Result<Option<&'a C>, ParseAsError> {
        self.parsed(Some(0))
    }

    /// All of them, by key.
    #[expect(clippy::iter_without_into_iter, reason = "the view is Copy and iterates by value")]
    pub fn iter(&self) -> TypedIter<'a, C> {
        TypedIter { view: *self, positions: 0..self.len() }
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

    fn parsed(self, position: Option<usize>) -> Result<Option<&'a C>, ParseAsError> {
        position.and_then(|at| self.at(at)).transpose()
    }

    fn at(self, position: usize) -> Option<Result<&'a C, ParseAsError>> {
        let of = self.raw.0?;
        let (object, slot) = (of.objects.get(position)?, of.slots::<C>().get(position)?);
        Some(slot.get_or_init(|| object.parse_as()).as_ref().map_err(Clone::clone))
    }
}

impl<'a, C: DeserializeOwned + Send + Sync + 'static> IntoIterator for TypedView<'a, C> {
    type Item = Result<&'a C, ParseAsError>;
    type IntoIter = TypedIter<'a, C>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, C: DeserializeOwned + Send + Sync + 'static> Iterator for TypedIter<'a, C> {
    type Item = Result<&'a C, ParseAsError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.view.at(self.positions.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl<C: DeserializeOwned + Send + Sync + 'static> ExactSizeIterator for TypedIter<'_, C> {}

// Not derived: that would require `C: Default`, and `C: Clone`.
impl<C> Default for TypedView<'_, C> {
    fn default() -> Self {
        Self { raw: RawView::default(), ty: PhantomData }
    }
}

impl<C> Clone for TypedView<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for TypedView<'_, C> {}

impl fmt::Debug for RawView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<C> fmt::Debug for TypedView<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl<C> fmt::Debug for TypedIter<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedIter").field("positions", &self.positions).finish_non_exhaustive()
    }
}

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
        let data =
            |config_map: Option<&ConfigMap>| config_map.unwrap().data.clone().unwrap()["k"].clone();
        assert_eq!(data(typed.first().unwrap()), "a/x");
        assert_eq!(data(typed.named("z").unwrap()), "c/z");
        assert_eq!(data(typed.get(("b", "x")).unwrap()), "b/x");
        assert!(typed.get(("b", "y")).unwrap().is_none() && typed.exists(("b", "x")));
        let all: Vec<_> = typed.into_iter().map(|parsed| data(parsed.ok())).collect();
        assert_eq!((all.len(), typed.len()), (5, 5));
        let (first, again) = (typed.first().unwrap().unwrap(), typed.get(("a", "x")));
        assert!(std::ptr::eq(first, again.unwrap().unwrap()), "each is parsed once");
        let misfit = typed.raw().as_type::<Vec<u8>>();
        assert!(misfit.first().is_err() && misfit.iter().all(|parsed| parsed.is_err()));
        assert!(typed.first().is_ok(), "one Rust type does not disturb another");
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
