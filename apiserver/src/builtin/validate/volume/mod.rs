//! Volumes of pods, persistent volumes and claims of them.
//!
//! ```text
//! pod -> volumes -> source (what both have), projected -> downward, path
//!            |                 ^
//!            +-> claim <- persistent
//! ```
//!
//! **Invariants**: nothing here reads another object; whether a claim or a class exists is for controllers.

pub(super) mod claim;
pub(super) mod downward;
pub(super) mod path;
pub(super) mod persistent;
mod pod_volume;
mod projected;
pub(super) mod source;

pub(super) use pod_volume::{Volumes, pull_policy, volumes};
