//! What all parts of one server share. It decides nothing.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};

use crate::{
    admission::Chains,
    callout::Services,
    cluster::Cluster,
    persistence::Persistence,
    published::Published,
    rbac::{Authorizer, Impersonation},
    rendered::Rendered,
    requests::Requests,
    users::Tokens,
};

/// What all parts of one server share.
pub(crate) struct Shared {
    /// The objects, and what decides about them.
    pub cluster: Cluster,
    /// The received requests.
    pub requests: Arc<Requests>,
    /// Counts how often all watches were closed.
    pub cuts: watch::Sender<u64>,
    /// The frames of watches that were made last.
    pub rendered: Arc<Rendered>,
    /// The documents that are made of all types.
    pub published: Published,
    /// Held while a large body is handled.
    pub turn: Mutex<()>,
    /// The configurations of admission.
    pub chains: Chains,
    /// The addresses of Services that have webhooks.
    pub services: Arc<Services>,
    /// Who has a token.
    pub tokens: Tokens,
    /// The data directory, if there is one. Dropped after the log, whose changes it writes.
    pub persistence: Option<Persistence>,
    /// Who may do what.
    pub authorizer: Authorizer,
    /// Who may be who.
    pub impersonation: Impersonation,
    /// Whether lists and watches can be of a shard.
    pub sharded_lists: bool,
}
