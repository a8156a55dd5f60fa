//! What the API server answers, and what is sent to it beside objects, as values: errors and what kind of
//! trouble they are, the schema of a type, Kubernetes Events.
//!
//! Layer 1. Nothing here does I/O; `cluster` makes these values of what it reads.
//!
//! Invariants:
//! - an error never quotes a body, but for the words of the server.

mod deleted;
mod error;
mod event;
mod status_schema;
mod value_schema;

pub use deleted::Deleted;
pub use error::{ApiError, Cause, ErrorClass, Refusal};
pub use event::{EventKind, ParentEvent, Regarding};
pub use status_schema::{StatusSchema, TypeSchema};
pub(crate) use value_schema::ValueSchema;
