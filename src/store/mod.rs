//! The cache of one type: what the API server holds, as far as we have been told.
//!
//! Layer 2. No I/O: the watch loop and the replies to our own writes come in as values, changes
//! go out as values.
//!
//! ```text
//! watch events --observe-->  +-------+  --Change--> operators
//! lists        --replace-->  | Store |
//! own replies  --overlay-->  +-------+  <--StoreReader-- handlers' snapshots, the web
//! ```
//!
//! Invariants:
//! - time does not run backwards: what is older than the cached version of an object is ignored,
//!   be it an event, an item of a list or the absence from a list;
//! - unless a list contradicts what is known, as that of a restored server does: it replaces all;
//! - an object that we saw deleted does not come back under its uid;
//! - what cannot be read is left out, and known by name for as long as that lasts;
//! - a reader sees a complete version of an object or none.

mod contents;
mod departed;
mod scope;
mod shared;
mod undecodable;

pub use contents::Change;
pub use scope::{Hold, ListStart, ScopeId, Settled};
pub use shared::{Store, StoreReader};

#[cfg(test)]
mod tests;
