//! What a watch loop watches, and the notes that it sends. Values only.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use super::Shard;
use crate::{
    object::{K8sType, LabelSelector, Object, Outline, Undecodable},
    reply::ApiError,
    store::{Change, Settled},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchSpec {
    pub(crate) ty: K8sType,
    /// The namespace; `None` for all.
    pub(crate) namespace: Option<String>,
    /// The label selector; `None` for all objects.
    pub(crate) label_selector: Option<String>,
    /// The name of the only object; `None` for all objects.
    pub(crate) name: Option<String>,
    /// Whether the server sends only the metadata.
    pub(crate) metadata_only: bool,
    /// The part that is watched; `None` for all objects.
    pub(crate) shard: Option<Shard>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Watched {
    pub(crate) ty: K8sType,
    /// The namespace; `None` for all.
    pub(crate) namespace: Option<String>,
}

impl WatchSpec {
    /// A watch of all objects of a type.
    pub(crate) fn of(ty: K8sType) -> Self {
        let (namespace, label_selector, name, shard) = <_>::default();
        Self { ty, namespace, label_selector, name, metadata_only: false, shard }
    }

    /// What selects its objects, for the store; `None` for all objects of the namespace.
    pub(crate) fn selection(&self) -> Option<String> {
        match (&self.label_selector, &self.shard) {
            (labels, None) => labels.clone(),
            (None, Some(shard)) => Some(shard.identity()),
            (Some(labels), Some(shard)) => Some(format!("{labels} {}", shard.identity())),
        }
    }

    /// Whether the server would show an object. The labels are those of the selector.
    pub(super) fn selects(&self, labels: Option<&LabelSelector>, object: &Object) -> bool {
        self.name.as_ref().is_none_or(|name| **name == *object.key().name)
            && labels.is_none_or(|labels| labels.matches(&object.labels()))
            && self.shard.as_ref().is_none_or(|shard| shard.has_object(object))
    }

    pub(super) fn includes(&self, outline: &Outline<'_>) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.includes(outline))
    }

    pub(super) fn may_include(&self, object: &Undecodable) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.may_include(object))
    }

    pub(crate) fn watched(&self) -> Watched {
        Watched { ty: self.ty.clone(), namespace: self.namespace.clone() }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} in namespace {namespace}", self.ty.resource_name()),
            None => f.write_str(&self.ty.resource_name()),
        }
    }
}

#[derive(Debug)]
pub(crate) enum WatchNote {
    /// A connection was opened, unless the connection before it lasted until its timeout. Servers end
    /// the watches of a type when its definition changes.
    Opened,
    Changed(Vec<Change>),
    Synced(Settled),
    /// The server sent something, which need not be a change. Sent once a second at most, but always
    /// after a failure.
    Alive {
        at: SystemTime,
    },
    /// Changes are missed until the next list: `Synced` follows.
    Lost,
    /// The watch failed and is retried after the delay.
    Failed {
        error: ApiError,
        /// How long until the next try.
        retry_in: Duration,
    },
    Undecodable {
        object: Undecodable,
        /// Whether this version was not known to be undecodable.
        is_news: bool,
    },
}
