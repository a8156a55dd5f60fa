//! The objects that tokens are bound to.

use std::sync::Arc;

use super::claims::Reference;
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Object, ObjectKey},
};

/// A type of objects that a token can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pod,
    Secret,
    Node,
}

impl Kind {
    /// The type of a reference.
    pub(super) fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("", "Pod") => Some(Self::Pod),
            ("", "Secret") => Some(Self::Secret),
            ("", "Node") => Some(Self::Node),
            _ => None,
        }
    }

    /// The resource.
    pub(super) fn resource(self) -> GroupResource {
        let plural = match self {
            Self::Pod => "pods",
            Self::Secret => "secrets",
            Self::Node => "nodes",
        };
        GroupResource::new("", plural)
    }

    /// As messages begin.
    pub(super) fn titles(self) -> [&'static str; 2] {
        match self {
            Self::Pod => ["Pod", "pod"],
            Self::Secret => ["Secret", "secret"],
            Self::Node => ["Node", "node"],
        }
    }

    /// An object, where tokens of a namespace look for it.
    pub(super) fn find(
        self,
        cluster: &Cluster,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Object>> {
        let namespace = if self == Self::Node { "" } else { namespace };
        cluster.log.get(&self.resource(), &ObjectKey::new(namespace, name))
    }
}

impl Reference {
    /// A reference to an object.
    pub(super) fn to(name: &str, object: &Object) -> Self {
        Self { name: name.to_owned(), uid: object.meta.uid.to_string() }
    }
}
