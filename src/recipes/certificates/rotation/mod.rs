//! How the certificates in one Secret of several processes are renewed, so that clients which trust `ca.crt` never meet a
//! certificate that they do not trust.
//!
//! ```text
//!          ca.crt   ca.key   tls.crt signed by
//! steady   A        A        A
//!            | two thirds of the life of A are over
//! trusted  B, A     B        A                      clients learn of B
//!            | an overlap later, if all clients were given B
//! signed   B, A     B        B                      processes load what they serve with
//!            | an overlap later
//! steady   B        B        B
//! ```
//!
//! A lost key of an authority begins the same way. A serving certificate that cannot be used is replaced at once, by an
//! authority that is trusted already if its key is there.
//!
//! Does no I/O but for randomness: who calls it reads and writes the Secret, and says what clients were given.
//!
//! Invariants:
//! - every decision to write names its reasons, and what was written gives none at that time;
//! - an authority leaves `ca.crt` when it has expired, or an overlap after the last certificate of another was made;
//! - no content of the Secret is an error: what cannot be read is replaced.

mod content;
mod decision;

pub(crate) use content::expiry;
pub(crate) use decision::{Known, Lifetimes, Reason, Rotation};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod years;
