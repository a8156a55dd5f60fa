//! The children of a parent as its handler receives them.

use std::fmt;

use serde::de::DeserializeOwned;

use super::{RawView, TypedView, children_of_type::ChildrenOfType};
use crate::object::{K8sType, Object, TypeRef, TypedResource};

/// The observed children of one parent: one entry per declared type, each sorted by key.
#[derive(Clone, Default)]
pub struct Children(Vec<ChildrenOfType>);

impl Children {
    /// The children of the given types; each list is sorted here.
    pub fn new(types: impl IntoIterator<Item = (K8sType, Vec<Object>)>) -> Self {
        let of_type = |(ty, objects)| ChildrenOfType::new(ty, objects);
        Self(types.into_iter().map(of_type).collect())
    }

    /// The children of a type, named by a [`K8sType`] or as `("v1", "Pod")`; empty for a type that
    /// was not declared.
    pub fn of_type<'t>(&self, ty: impl Into<TypeRef<'t>>) -> RawView<'_> {
        let ty = ty.into();
        let found = self.0.iter().find(|children| TypeRef::from(&children.ty) == ty);
        RawView::new(found)
    }

    /// The children of a Rust type; empty for a type that was not declared.
    pub fn with_type<C>(&self) -> TypedView<'_, C>
    where
        C: TypedResource + DeserializeOwned + Send + Sync + 'static,
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
        self.0[at].insert(child);
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
