//! The web endpoint: health, metrics, and the state of operators and caches, as JSON and as pages. The
//! pages, with the logins of browsers, are the feature `dashboard`.
//!
//! Layer 10. It reads the board, the stores and the metrics, and knows no actor. Commands go through the
//! board, and so do queries that only the engine can answer: previews of reconciles, and Kubernetes
//! Events.
//!
//! ```text
//!            guard (sizes, Host, origin, access, body, headers)
//! request --> /livez /readyz ... health --+
//!             /metrics ......... metrics -+--> Board, StoreReader, Metrics
//!             /api/v1/operators  operators+
//!             /api/v1/activity . activity-+
//!             /api/v1/search ... search --+
//!             /api/v1/cache .... cache ---+--> redact --> response
//!             /mcp ............. mcp -----+    (what the API would answer, as text)
//!             / /ui ............ ui ------+    (or no_ui)
//! ```
//!
//! Imports: `server` -> `table` (paths of programs) -> `ui` (paths of browsers) -> handlers -> what they
//! need of each request, as values: `state`, `rules`, `paths`, `visitor` -> `status`, `endpoint`.
//! `routes` and `guard` get all paths as a value.
//!
//! Invariants:
//! - Every object passes `redact` before it is shown, and so does every text about an object that does
//!   not come from the board.
//! - Every error of every path is a Kubernetes `Status` with the security headers; errors within the Model Context
//!   Protocol are those of JSON-RPC.
//! - No GET and no page of another site can give a command: commands are JSON, except for the forms to
//!   log in and out, which prove their origin.
//! - A request reads copies, so a slow client never blocks an actor.

mod about;
mod accept;
mod access;
mod activity;
mod against;
mod approval;
#[cfg(any(feature = "dashboard", feature = "mcp"))]
mod attention;
mod audit;
mod body;
mod cache;
mod commands;
mod connection;
mod deeper;
mod diff;
mod dry_run;
mod endpoint;
mod events;
mod explain;
mod guard;
mod headers;
mod health;
mod index;
mod key;
mod kubernetes_events;
mod legible;
mod log_level;
#[cfg(feature = "dashboard")]
mod logins;
#[cfg(not(feature = "dashboard"))]
#[path = "no_logins.rs"]
mod logins;
mod map;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "no_mcp.rs"]
mod mcp;
mod members;
mod metrics;
mod niceness;
#[cfg(any(test, not(feature = "dashboard")))]
mod no_ui;
mod open_files;
mod openapi;
mod operators;
mod origin;
mod owners;
mod page;
mod pages;
mod parents;
mod patched;
mod paths;
mod pausing;
mod peer;
mod peers;
mod plan;
mod plan_text;
mod plans;
mod probes;
mod program;
mod proxy;
mod pulse;
mod redact;
mod related;
mod request_rules;
mod routes;
mod search;
mod selection;
mod server;
mod session_limits;
mod severity;
mod shards;
mod standing;
mod state;
mod status;
mod stores;
mod switch;
mod table;
mod targets;
mod tls;
mod transport;
mod tree;
#[cfg(feature = "dashboard")]
mod ui;
mod views;
mod visitor;
mod webhooks;
mod why;

#[cfg(test)]
mod tests;

pub use crate::operator::{Stores, StoresError};
pub(crate) use access::Reviewing;
pub use access::{Access, Auth};
pub use against::DocumentError;
pub use audit::AUDIT;
pub(crate) use peers::Peers;
pub use plan::{PlanFilter, Plans};
pub use probes::Probes;
pub use program::{LogLevel, Program, Routes};
pub use proxy::{NoHost, TlsProxy};
pub(crate) use server::{BindError, Protection, listen, server};
pub(crate) use state::WebState;
pub(crate) use stores::stores_of;
pub(crate) use tls::ClientAuthority;
pub use tls::{Certificates, Tls, TlsError};
pub(crate) use webhooks::{Records, WebhookTls, webhook_server};
