//! Keys of objects within their resource, and scopes of reads.

use std::sync::Arc;

/// The name of an object within its resource; cluster-scoped objects have an empty namespace. Cheap
/// to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectKey {
    /// The namespace, or empty.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

/// Which objects of a resource a read is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    All,
    /// Those of one namespace.
    Namespace(Arc<str>),
}

impl ObjectKey {
    /// The key of an object; `namespace` is empty for cluster-scoped ones.
    pub(crate) fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl Scope {
    /// Whether an object of this key is within.
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => *namespace == key.namespace,
        }
    }

    /// The first key that could be within.
    pub(super) fn start(&self) -> ObjectKey {
        match self {
            Self::All => ObjectKey::new("", ""),
            Self::Namespace(namespace) => ObjectKey::new(namespace.clone(), ""),
        }
    }

    /// The first key behind all that could be within, if there is one.
    pub(super) fn end(&self) -> Option<ObjectKey> {
        match self {
            Self::All => None,
            Self::Namespace(namespace) => Some(ObjectKey::new(format!("{namespace}\0"), "")),
        }
    }
}
