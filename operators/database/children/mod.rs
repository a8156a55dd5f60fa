//! The children of a `Database`: pure functions from the parent to the objects. Nothing here reads what
//! exists or decides in which order it is written.
//!
//! ```text
//!   names ── scripts, access, storage, network
//!     └───── pod ── workload, backup
//! ```

pub(super) mod access;
pub(super) mod backup;
pub(super) mod names;
pub(super) mod network;
pub(super) mod scripts;
pub(super) mod storage;
pub(super) mod workload;

mod pod;
