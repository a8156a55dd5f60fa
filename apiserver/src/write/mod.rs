//! Creating, changing and deleting objects: what happens between a decoded request and the log.
//!
//! ```text
//!  value ─ decode (prune, default) ─ managedFields ─ prepare (metadata, status, generation) ─ validate ─ commit
//! ```
//!
//! The REST verbs and the server's own controllers write through here and nowhere else, so that
//! generation, finalizers and no-op writes follow one rule. Knows no HTTP.

mod admit;
mod create;
mod decode;
mod delete;
mod direct;
mod embedded;
mod generation;
mod grace;
mod manage;
mod metadata;
mod metadata_checks;
mod options;
mod part;
mod peculiar;
mod phase_time;
mod scaling;
mod strategy;
mod update;
mod validate;

pub(crate) use self::{
    create::create,
    decode::{Undecodable, complete_applied, decode, decode_message},
    delete::{Deleted, FOREGROUND, ORPHAN, delete},
    direct::change_directly,
    manage::{
        Applied, apply_request, apply_to_scale, track_scale, track_token_request, unconvertible,
    },
    metadata::{drop_system_fields, given_version, metadata_mut},
    options::{Complaints, DeleteOptions, FieldValidation, Propagation, WriteOptions, Written},
    peculiar::{creates_on_update, returns_deleted, storage_prefix},
    strategy::warnings_of_deletion,
    update::{Change, update},
};
