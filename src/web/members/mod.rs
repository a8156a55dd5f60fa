//! One answer of all processes that share the parents of their operators: the process that is asked for a list asks the
//! others for their shares of it, and merges them with its own.
//!
//! ```text
//! request --> Members --one request to each--> the others --share--+
//!                                                                  +--> merged (pure) --> handler --> answer
//! handler ----------------------its own share----------------------+
//! ```
//!
//! A share is what a member has of the answer to the same path and query, as JSON. Its form is that of the version of the
//! program: a member of another version may be missing.
//!
//! Invariants:
//! - the token of a user is sent as [`peers`](super::peers) sends it, and each member authorizes the request itself;
//! - a member that is asked by another one answers for itself alone;
//! - what is not there is named, and the rest is shown;
//! - a process that shares its parents with nobody asks nobody.

mod asking;
mod census;
mod missing;
mod share;

pub(super) use asking::{Answers, Members};
pub(super) use census::Census;
pub(super) use missing::Missing;
pub(super) use share::{Item, Order, Share, Spot};
