//! Custom resource definitions: from an object in the log to resources that are served.
//!
//! ```text
//!  create / update ─ validate ─ commit ─ publish ─┬─ status: names accepted, established
//!                                                 └─ registry: one Resource per served version
//!  delete ─ finalizer ─ terminate: delete the custom resources, then the definition
//! ```
//!
//! A definition is published before its write is answered: its paths exist at once. `write` does
//! not know how: it calls the hook that the cluster has for that.

mod columns;
mod conversion;
pub(crate) mod names;
mod own_type;
mod rules;
mod scale;
mod validate;
pub(crate) mod versions;

pub(crate) use self::{
    own_type::{resource as definition_resource, served as definitions},
    rules::{CLEANUP, default, is_terminating, prepare_for_create},
    validate::{validate, validate_update},
};
