//! Calls of this server to the webhooks of others: admission and conversion.
//!
//! ```text
//!  clientConfig ─ Target ─┐
//!  body ──────────────────┴─> client: connect, TLS (verify), one POST ─> bytes | Failure (in Go's words)
//! ```
//!
//! **Invariants.** Only loopback addresses are called, and Services that the user of the server mapped to
//! one. A call blocks its thread, which is never one of the runtime: see [`Caller`].

mod client;
mod failure;
mod target;
mod verifier;

pub(crate) use self::{
    client::{Caller, Post},
    failure::Failure,
    target::{Services, Target},
};
