//! What a handler is asked.

use serde::de::DeserializeOwned;

use super::{Children, TypedView};
use crate::object::{Object, ResourceScope};

/// A snapshot of one parent and its children.
#[derive(Debug, Clone)]
pub struct SyncRequest {
    /// The parent.
    pub parent: Object,
    /// The children that the parent owns, of every declared type.
    pub children: Children,
}

impl SyncRequest {
    /// A request, also for tests of a handler.
    pub fn new(parent: Object, children: Children) -> Self {
        Self { parent, children }
    }

    /// The parent as a Rust type.
    ///
    /// # Errors
    /// When the parent does not fit the type: it becomes the parent's `Ready` condition.
    pub fn parent_as<P: DeserializeOwned>(&self) -> anyhow::Result<P> {
        self.parent.parse_as().map_err(|error| {
            let what = format!("{} {} cannot be read", self.parent.ty(), self.parent.key());
            anyhow::Error::new(error).context(what)
        })
    }

    /// The children of a Rust type.
    pub fn children<C>(&self) -> TypedView<'_, C>
    where
        C: kube::Resource<DynamicType = ()> + DeserializeOwned,
        C::Scope: ResourceScope,
    {
        self.children.with_type()
    }
}
