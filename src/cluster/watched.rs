//! What a watch loop watches, and the notes that it sends. Values only.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use crate::{
    object::{K8sType, Undecodable},
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
        let (namespace, label_selector, name) = <_>::default();
        Self { ty, namespace, label_selector, name, metadata_only: false }
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
