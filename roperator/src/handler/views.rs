//! The children of one type, as JSON or as a Rust type. Borrows, copies nothing until it is asked.

use std::{fmt, marker::PhantomData, slice};

use serde::de::DeserializeOwned;

use crate::resource::{K8sResource, K8sTypeRef, ObjectIdRef};

/// The children of one type. An id is `("namespace", "name")`, an `&ObjectId` or an `&ObjectIdRef`.
#[derive(Debug, Clone)]
pub struct RawView<'a, 'b> {
    children: &'a [K8sResource],
    type_ref: K8sTypeRef<'b>,
}

/// The children of one type as a Rust type; each access parses.
#[derive(Debug, Clone)]
pub struct TypedView<'a, 'b, T: DeserializeOwned> {
    raw: RawView<'a, 'b>,
    ty: PhantomData<T>,
}

/// The children of one type, one by one.
#[derive(Debug, Clone)]
pub struct RawIter<'a, 'b> {
    children: slice::Iter<'a, K8sResource>,
    type_ref: K8sTypeRef<'b>,
}

/// The children of one type as a Rust type, one by one.
pub struct TypedIter<'a, 'b, T: DeserializeOwned> {
    raw: RawIter<'a, 'b>,
    ty: PhantomData<T>,
}

impl<'a, 'b> RawView<'a, 'b> {
    pub(super) fn new(children: &'a [K8sResource], type_ref: K8sTypeRef<'b>) -> Self {
        Self { children, type_ref }
    }

    /// Whether there is a child with this id.
    pub fn exists<'c>(&self, id: impl Into<ObjectIdRef<'c>>) -> bool {
        self.get(id).is_some()
    }

    /// The child with this id.
    pub fn get<'c>(&self, id: impl Into<ObjectIdRef<'c>>) -> Option<&'a K8sResource> {
        let id = id.into();
        self.iter().find(|child| child.is_id(&id))
    }

    /// All of them.
    #[expect(clippy::iter_without_into_iter, reason = "roperator has no more")]
    pub fn iter(&self) -> RawIter<'a, 'b> {
        RawIter { children: self.children.iter(), type_ref: self.type_ref }
    }

    /// The first of them.
    pub fn first(&self) -> Option<&'a K8sResource> {
        self.iter().next()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// The same as a Rust type.
    pub fn as_type<T: DeserializeOwned>(&self) -> TypedView<'a, 'b, T> {
        TypedView { raw: self.clone(), ty: PhantomData }
    }

    /// The type.
    pub fn type_ref(&self) -> K8sTypeRef<'b> {
        self.type_ref
    }
}

impl<'a, 'b, T: DeserializeOwned> TypedView<'a, 'b, T> {
    /// Whether there is a child with this id.
    pub fn exists<'c>(&self, id: impl Into<ObjectIdRef<'c>>) -> bool {
        self.raw.exists(id)
    }

    /// The child with this id, or why it does not fit the type.
    pub fn get<'c>(&self, id: impl Into<ObjectIdRef<'c>>) -> Option<Result<T, serde_json::Error>> {
        self.raw.get(id).map(|child| child.clone().into_type())
    }

    /// The first of them, or why it does not fit the type.
    pub fn first(&self) -> Option<Result<T, serde_json::Error>> {
        self.iter().next()
    }

    /// All of them.
    #[expect(clippy::iter_without_into_iter, reason = "roperator has no more")]
    pub fn iter(&self) -> TypedIter<'a, 'b, T> {
        TypedIter { raw: self.raw.iter(), ty: PhantomData }
    }

    /// The same as JSON.
    pub fn as_raw(&self) -> &RawView<'a, 'b> {
        &self.raw
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.raw.count()
    }
}

impl<'a, 'b> IntoIterator for RawView<'a, 'b> {
    type Item = &'a K8sResource;
    type IntoIter = RawIter<'a, 'b>;

    fn into_iter(self) -> RawIter<'a, 'b> {
        self.iter()
    }
}

impl<'a, 'b, T: DeserializeOwned> IntoIterator for TypedView<'a, 'b, T> {
    type Item = Result<T, serde_json::Error>;
    type IntoIter = TypedIter<'a, 'b, T>;

    fn into_iter(self) -> TypedIter<'a, 'b, T> {
        self.iter()
    }
}

impl<'a> Iterator for RawIter<'a, '_> {
    type Item = &'a K8sResource;

    fn next(&mut self) -> Option<&'a K8sResource> {
        self.children.find(|child| child.get_type_ref() == self.type_ref)
    }
}

impl<T: DeserializeOwned> Iterator for TypedIter<'_, '_, T> {
    type Item = Result<T, serde_json::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.raw.next().map(|child| child.clone().into_type())
    }
}

impl<T: DeserializeOwned> fmt::Debug for TypedIter<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedIter").field(&self.raw).finish()
    }
}
