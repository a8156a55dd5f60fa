//! Custom resource definitions: from an object in the log to resources that are served.
//!
//! ```text
//!  create / update ─ decode ─ validate ─ commit ─ publish ─┬─ status: names accepted, established
//!                               │                          └─ registry: one Resource per served version
//!                               ├ form: what the versions have in common, in which errors are reported
//!                               ├ spec, names, columns, scale, selectable, conversion, approval, stored
//!                               └ open_api: the schemas, with `schema` and `cel`
//!  delete ─ finalizer ─ terminate: delete the custom resources, then the definition
//! ```
//!
//! A definition is published before its write is answered: its paths exist at once. `write` does
//! not know how: it calls the hook that the cluster has for that.

mod approval;
mod columns;
pub(crate) mod conditions;
mod conversion;
mod form;
mod go_version;
mod name_errors;
pub(crate) mod names;
mod open_api;
mod own_type;
mod ratchet;
mod rules;
mod scale;
mod selectable;
mod spec;
mod stored;
mod validate;
pub(crate) mod versions;
mod warnings;
mod webhook;

pub(crate) use self::{
    own_type::{resource as definition_resource, served as definitions},
    rules::{
        CLEANUP, decode, default, is_terminating, mark_deleted, prepare_for_create,
        prepare_for_update,
    },
    validate::{validate, validate_status, validate_update},
    warnings::warnings,
};
