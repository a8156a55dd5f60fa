//! What a watch loop is asked to watch, and what it has to say. Values only.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use crate::{
    object::{K8sType, Undecodable},
    reply::ApiError,
    store::{Change, Settled},
};

/// What one scope watches.
#[derive(Debug, Clone)]
pub struct WatchSpec {
    /// The type.
    pub ty: K8sType,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// The label selector; `None` for everything.
    pub label_selector: Option<String>,
}

/// Which watch it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// The type.
    pub ty: K8sType,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
}

impl WatchSpec {
    /// Which watch it is.
    pub fn watched(&self) -> Watched {
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

/// What a watch loop has to say.
#[derive(Debug)]
pub enum WatchNote {
    /// A connection was opened, but not in the place of one that had lasted its time. A server ends
    /// those that there are when a definition changes.
    Opened,
    /// The store has changed.
    Changed(Vec<Change>),
    /// The store holds a complete list.
    Synced(Settled),
    /// Something came from the server; nothing need have changed. Told once a second at most,
    /// but always after a failure.
    Alive {
        /// When.
        at: SystemTime,
    },
    /// What happens is not known any more until a list has told: `Synced` follows.
    Lost,
    /// The watch failed and is tried again after the delay.
    Failed {
        /// Why.
        error: ApiError,
        /// How long until the next try.
        retry_in: Duration,
    },
    /// An object could not be read.
    Undecodable {
        /// What can be told of it.
        object: Undecodable,
        /// Whether it was not known that this version of it cannot be read.
        is_news: bool,
    },
}
