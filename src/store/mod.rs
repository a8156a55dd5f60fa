//! The cache of one type: the objects of the API server, as far as they were received.
//!
//! Layer 2. No I/O: watch events and replies to our own writes come in as values, changes go out as
//! values.
//!
//! ```text
//! watch events --observe-->  +-------+  --Change--> operators
//! lists        --replace-->  | Store |
//! own replies  --overlay-->  +-------+  <--StoreReader-- the web
//!                                       <--Frozen------- reconciles: several stores at one revision
//! ```
//!
//! Invariants:
//! - versions never go back: an event, an item of a list or the absence from a list that is older
//!   than the cached version of an object is ignored;
//! - except when a list contradicts the cache, as the list of a restored server does: such a list replaces
//!   the whole cache;
//! - an object that was deleted does not come back under its uid;
//! - what left the selector of one watch is not gone for a watch with another selector;
//! - an object is cached only while a watch covers it, and nothing is kept of a watch that has ended;
//! - a store with a filter holds only the objects of its watch that somebody asks for;
//! - a Job that had finished when its TTL removed it is remembered until another takes its key;
//! - an undecodable object is not cached, but known by name as long as it is undecodable;

mod contents;
mod departed;
mod filter;
mod frozen;
mod revisions;
mod scope;
mod selectors;
mod shared;
mod undecodable;

pub(crate) use contents::Change;
pub(crate) use filter::{Filter, Listed};
pub(crate) use frozen::Frozen;
pub(crate) use revisions::Revisions;
pub(crate) use scope::Settled;
pub(crate) use scope::{Hold, ListStart, ScopeId};
pub(crate) use selectors::Selectors;
pub(crate) use shared::{Store, StoreReader};

#[cfg(test)]
mod tests;
