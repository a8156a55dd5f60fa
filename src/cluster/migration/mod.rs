//! Writes the objects of a type again that may be stored in an old version, and then removes that version from
//! `status.storedVersions` of the CRD.
//!
//! ```text
//! CRD --todo (pure)--> pages of objects --rewrite--> answers --progress (pure)--> all written? --stored--> CRD
//! ```
//!
//! The command `migrate` does it once, with the permissions of a user; the leader does it by itself, behind its fence. Neither
//! decides here when to begin and what to show.
//!
//! Invariants:
//! - An object is written as it was read, with its resourceVersion: nobody's change is reverted.
//! - A version leaves `status.storedVersions` only if every object was written, and the CRD did not change meanwhile.
//! - To begin again is safe: the server does not write an object whose stored bytes stay the same.

mod pace;
mod progress;
mod rewrite;
mod stored;
mod todo;

pub(crate) use pace::Pace;
pub(crate) use progress::{Progress, Written};
pub(crate) use rewrite::{RewriteError, Step, Terms};
pub(crate) use stored::{Removed, crd_type};
pub(crate) use todo::{Rewrite, Todo, TodoError};
