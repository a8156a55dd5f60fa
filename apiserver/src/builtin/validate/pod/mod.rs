//! Pods and the templates of pods, in the order in which the real server checks them.
//!
//! ```text
//! create, template (whole), update
//!          |
//!        spec --> volumes
//!          +----> container --> env, mount, resources, probe, restart, security
//!          +----> affinity, spread, toleration, security, windows, resources
//! ```
//!
//! **Invariants**: a template is checked like a pod, except for what only a pod can have (a name for the claims of
//! its ephemeral volumes, a token of its account). What an older version of the object already had wrong is
//! not taken into account.

mod affinity;
mod annotation;
mod container;
mod context;
mod dns;
mod env;
mod mount;
mod probe;
pub(super) mod resources;
mod restart;
mod security;
mod spec;
mod spread;
pub(super) mod toleration;
mod update;
mod whole;
mod windows;

pub(super) use spec::preemption_policy;
pub(super) use update::update;
pub(super) use whole::{create, metadata_and_spec, template};
