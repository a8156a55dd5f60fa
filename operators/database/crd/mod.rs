//! The custom resource `Database`: what a user can ask for, and what the API server refuses.
//!
//! ```text
//!   v1          what the operator works with, and what is stored
//!   v1alpha1    what clients of the first version write
//!   parts       what both have
//!   conversion  from one to the other
//! ```
//!
//! The schemas and their CEL rules refuse what can be judged from the object alone, with a sentence that
//! says what to write instead. `refusal.rs` judges the rest.

mod conversion;
mod parts;
mod v1;
pub mod v1alpha1;

pub use conversion::versions;
pub use parts::{
    Amount, DatabaseStatus, DeletionPolicy, LastBackup, ReadReplicas, Resources, RestoreFrom,
    VERSIONS,
};
pub use v1::{Backup, Database, DatabaseSpec, Storage, Version};
