//! The answers of the API server and the Events sent to it, as values: errors and their classes, the schema
//! of a type, Kubernetes Events.
//!
//! Layer 1. No I/O; `cluster` makes these values.
//!
//! Invariants:
//! - an error never quotes a body, except for messages of the server.

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
