//! The web endpoint: health, metrics, and what every operator and cache holds, as JSON.
//!
//! Layer 10. Reads the board, the stores behind it and the metrics; it changes nothing and knows no
//! actor. What a person orders goes through the board, and so does what only the engine can say: what
//! a reconcile would change, and what Kubernetes tells of a parent.
//!
//! ```text
//!            guard (sizes, Host, origin, access, body, headers)
//! request --> /livez /readyz ... health --+
//!             /metrics ......... metrics -+--> Board, StoreReader, Metrics
//!             /api/v1/operators  operators+
//!             /api/v1/cache .... cache ---+--> redact --> response
//! ```
//!
//! Who imports whom: `server` -> `routes`, `guard` -> `table` (all paths) -> who answers a path -> what
//! they need of each request, as values: `state`, `gate`, `paths`, `visitor` -> `status`, `endpoint`.
//!
//! Invariants:
//! - every object passes `redact` on its way out, and so does every text about one that does not come
//!   from the board;
//! - every error under every path is a Kubernetes `Status`, with security headers like the rest;
//! - nothing is ordered by a GET, nor by the page of another site: what changes something is JSON,
//!   but for the forms to log in and out, which prove where they are from;
//! - a request reads copies: however slow its client is, nobody who acts waits for it.

mod about;
mod accept;
mod access;
mod audit;
mod body;
mod cache;
mod commands;
mod connection;
mod diff;
mod endpoint;
mod events;
mod explain;
mod gate;
mod guard;
mod headers;
mod health;
mod index;
mod kubernetes_events;
mod legible;
mod log_level;
mod login;
mod metrics;
mod niceness;
mod open_files;
mod openapi;
mod operators;
mod origin;
mod owners;
mod page;
mod parents;
mod paths;
mod peer;
mod program;
mod proxy;
mod redact;
mod routes;
mod selection;
mod server;
mod state;
mod status;
mod stores;
mod table;
mod tls;
mod transport;
mod tree;
mod ui;
mod views;
mod visitor;
mod why;

#[cfg(test)]
mod tests;

pub use access::{Access, Auth};
pub use audit::AUDIT;
pub use program::{LogLevel, Program, Routes};
pub use proxy::{NoHost, TlsProxy};
pub use server::{BindError, Protection, listen, server};
pub use state::WebState;
pub use stores::{Stores, StoresError};
pub use tls::{Certificates, Tls, TlsError};
