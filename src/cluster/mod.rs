//! The client of the Kubernetes API.
//!
//! Layer 8, and the only module that sends requests to the API server. It decides nothing: `plan`
//! decides what is written and what an answer means for a child.
//!
//! Invariants:
//! - every request has a timeout; a watch has an idle timeout;
//! - a body is never logged and never part of an error;
//! - create and update are server-side apply; a delete carries uid, version and propagation policy.

mod api;
mod boot_clock;
mod changed;
mod clients;
mod closing;
mod documents;
mod dry_run;
mod event_list;
mod events;
mod fenced;
mod few;
mod frames;
mod install;
mod kubeconfig;
mod leading;
mod lease;
mod list;
mod migration;
mod pod_label;
mod published;
mod reloading;
mod retry_after;
mod reviews;
mod schema;
mod served;
mod shard;
#[cfg(feature = "certificates")]
mod shared_secret;
mod unsent;
mod uri_user;
mod watch;
mod watched;
mod webhooks;
mod write;

pub use api::Timeouts;
pub(crate) use api::{Cluster, ClusterSettings};
pub(crate) use boot_clock::election_now;
pub(crate) use clients::{client, fenced};
pub(crate) use event_list::EventList;
pub(crate) use few::Which;
pub use install::{InstallError, install_crds};
pub(crate) use kubeconfig::{Login, Plugin, of_config, of_kubeconfig, of_pod};
pub(crate) use lease::{Leases, is_outrun, lease_type};
pub(crate) use list::{List, PAGE_SIZE, Urgency};
pub(crate) use migration::{
    Pace, Progress, Removed, Rewrite, RewriteError, Step, Terms, Todo, TodoError, Written, crd_type,
};
pub(crate) use published::{PUBLISHED_WITHIN, definition};
pub(crate) use reloading::{Cause, Loaded, Read, reloading};
pub(crate) use reviews::{AccessVerdict, TokenVerdict, User};
pub(crate) use shard::{Shard, ShardedBy};
#[cfg(feature = "certificates")]
pub(crate) use shared_secret::secret_type;
pub(crate) use unsent::{described, described_error};
pub(crate) use watch::watch;
pub(crate) use watched::{WatchNote, WatchSpec, Watched};
pub(crate) use webhooks::apply_webhooks;

#[cfg(test)]
mod tests;
