//! Parents that another process works for, where several share the parents of their operators: a request for one of them is
//! sent on to that process, with the token of the user, and its answer is returned.
//!
//! ```text
//! request --> sought: which parent --> owner: its uid, read now --> bucket --> member --> sending: its answer
//! ```
//!
//! Invariants:
//! - a token is only sent to a process that proves to have the certificate of this one;
//! - a request is sent on once: who gets it answers it;
//! - a process that is asked directly answers for itself.

mod client;
mod owner;
mod same_certificate;
mod sending;
mod sought;

#[cfg(test)]
pub(super) use client::ask;
pub(super) use client::{Asked, PeerError, SENT_ON, Wanted};
pub(crate) use owner::Peers;
pub(super) use sending::send_on;
