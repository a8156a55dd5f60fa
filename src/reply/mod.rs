//! The answers of the API server and the Events sent to it, as values: errors and their classes, the schema
//! of a type, Kubernetes Events.
//!
//! Layer 1. No I/O; `cluster` makes these values.
//!
//! Invariants:
//! - an error never quotes a body, except for messages of the server.

mod causes;
mod class;
mod defaults;
mod deleted;
mod error;
mod event;
mod immutable;
mod refusal;
mod status_schema;
mod transition_rules;
mod value_schema;

pub(crate) use causes::causes;
pub(crate) use class::ErrorClass;
pub use defaults::Defaults;
pub(crate) use deleted::Deleted;
pub(crate) use error::ApiError;
pub(crate) use event::{EventKind, IfKnown, ParentEvent, Regarding};
#[cfg(test)]
pub(crate) use refusal::RefusedObject;
pub(crate) use refusal::{Cause, Refusal};
pub(crate) use status_schema::{StatusSchema, TypeSchema};
pub(crate) use transition_rules::TransitionRules;
pub(crate) use value_schema::ValueSchema;
