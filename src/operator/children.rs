//! The children of a parent as its handler receives them.

use std::fmt;

use kube::Resource;
use serde::de::DeserializeOwned;

use super::{RawView, TypedView, key_index::KeyIndex};
use crate::object::{K8sType, Object, ResourceScope, TypeRef};

/// The observed children of one parent: one entry per declared type, each sorted by key.
#[derive(Clone, Default)]
pub struct Children(Vec<ChildrenOfType>);

#[derive(Clone)]
struct ChildrenOfType {
    ty: K8sType,
    objects: Vec<Object>,
    by_key: KeyIndex,
}

impl Children {
    /// The children of the given types; each list is sorted here.
    pub fn new(types: impl IntoIterator<Item = (K8sType, Vec<Object>)>) -> Self {
        let of_type = |(ty, mut objects): (K8sType, Vec<Object>)| {
            objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
            ChildrenOfType::new(ty, objects)
        };
        Self(types.into_iter().map(of_type).collect())
    }

    /// The children of a type, named by a [`K8sType`] or as `("v1", "Pod")`; empty for a type that
    /// was not declared.
    pub fn of_type<'t>(&self, ty: impl Into<TypeRef<'t>>) -> RawView<'_> {
        let ty = ty.into();
        let found = self.0.iter().find(|children| TypeRef::from(&children.ty) == ty);
        found.map_or_else(RawView::default, |found| {
            RawView::new(&found.ty, &found.objects, &found.by_key)
        })
    }

    /// The children of a Rust type; empty for a type that was not declared.
    pub fn with_type<C>(&self) -> TypedView<'_, C>
    where
        C: Resource<DynamicType = ()> + DeserializeOwned,
        C::Scope: ResourceScope,
    {
        self.of_type((&*C::api_version(&()), &*C::kind(&()))).as_type()
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

    /// Adds a child, or replaces the one of its key.
    pub(super) fn insert(&mut self, child: Object) {
        let known = self.0.iter().position(|children| children.ty == *child.ty());
        let at = known.unwrap_or_else(|| {
            self.0.push(ChildrenOfType::new(child.ty().clone(), Vec::new()));
            self.0.len() - 1
        });
        let of_type = &mut self.0[at];
        of_type.by_key.forget();
        match of_type.objects.binary_search_by(|object| object.key().cmp(child.key())) {
            Ok(at) => of_type.objects[at] = child,
            Err(at) => of_type.objects.insert(at, child),
        }
    }
}

impl ChildrenOfType {
    fn new(ty: K8sType, objects: Vec<Object>) -> Self {
        Self { ty, objects, by_key: KeyIndex::default() }
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
