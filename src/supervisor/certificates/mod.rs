//! The certificates of webhooks, in a Secret that all replicas share.
//!
//! ```text
//! Keeper --read, write--> Secret              `keeper`: one turn, and when the next one is
//!   |  \--replace--> Certificates (served)    `secret`: the Secret, of which one writer wins
//!   +--patch--> caBundle of configurations    `bundle`: what the API server trusts
//! ```
//!
//! `recipes::Rotation` decides what is written. Does not wait for an election: each replica answers webhooks.
//!
//! Invariants:
//! - What is served and published was read from the Secret, or accepted by the API server for it.
//! - A bundle is published only over the version of an object that was read before the Secret was, so that no replica that
//!   lags takes a newer one back.
//! - After the first certificate no failure ends the process: it is logged, and the last certificate stays in use.

mod bundle;
mod error;
mod keeper;
mod secret;
mod shared;

pub(super) use keeper::Keeper;
pub(crate) use shared::RotationSettings;
pub(super) use shared::{SharedCertificates, shared};
