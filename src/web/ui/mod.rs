//! The pages for browsers.
//!
//! They are rendered on the server and readable without script; a small script keeps them up to date
//! and sends commands. They show the same data as the API, with the same redaction, and read only the
//! board and the stores.
//!
//! ```text
//! board, stores --> attention, sentence (pure) --> overview, operator, parent, cache, activity --> templates
//!                                                  each a `Frame` around a `main` ----> HTML
//! ```
//!
//! Invariants:
//! - All text is escaped, because it comes from the cluster.
//! - Pages have no inline script or style, so that the security policy can forbid them.
//! - The number of rows of a page is limited.

mod activity;
mod assets;
mod attention;
mod cache;
mod chips;
mod events;
mod facts;
mod frame;
mod glance;
mod links;
mod login;
mod map;
mod namespace;
mod namespaces;
mod object;
mod operator;
mod overview;
mod parent;
mod parent_list;
mod parent_row;
mod parts;
mod reconciles;
mod routes;
mod search;
mod sentence;
mod shell;
mod short;
mod sort;
mod sparks;
mod time;
mod tree;
mod troubled;

pub(super) use routes::PAGES;

#[cfg(test)]
pub(super) use login::open_session;
