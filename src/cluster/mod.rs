//! The Kubernetes API, as this framework needs it.
//!
//! Layer 8, and the only module that talks to the API server. It decides nothing: what to write
//! is planned elsewhere, and what an answer means for a child is asked of the plan.
//!
//! Invariants:
//! - every request has a deadline; a watch has an idle timeout;
//! - a body is never logged and never part of an error;
//! - create and update are server-side apply, a delete carries uid, version and a propagation.

mod api;
mod documents;
mod event_list;
mod events;
mod frames;
mod list;
mod published;
mod retry_after;
mod reviews;
mod schema;
mod watch;
mod watched;
mod write;

pub use api::{Cluster, ClusterSettings, Timeouts};
pub use event_list::EventList;
pub use published::{PUBLISHED_WITHIN, secret_fields};
pub use reviews::{AccessVerdict, TokenVerdict, User};
pub use watch::watch;
pub use watched::{WatchNote, WatchSpec, Watched};

#[cfg(test)]
mod tests;
