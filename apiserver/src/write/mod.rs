//! Creating, changing and deleting objects: what happens between a decoded request and the log.
//!
//! ```text
//!  value ─ prune ─ default ─ managedFields ─ prepare (metadata, status, generation) ─ validate ─ commit
//! ```
//!
//! The REST verbs and the server's own controllers write through here and nowhere else, so that
//! generation, finalizers and no-op writes follow one rule. Knows no HTTP.

mod admit;
mod create;
mod delete;
mod generation;
mod manage;
mod metadata;
mod options;
mod peculiar;
mod strategy;
mod update;

pub(crate) use self::{
    create::create,
    delete::{Deleted, FOREGROUND, ORPHAN, delete},
    manage::{Applied, apply_request},
    metadata::{given_version, metadata_mut},
    options::{
        Complaints, DeleteOptions, FieldValidation, Propagation, Result, Subresource, WriteOptions,
        Written,
    },
    peculiar::{creates_on_update, returns_deleted},
    strategy::warnings_of_deletion,
    update::{Change, update},
};
