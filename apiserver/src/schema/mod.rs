//! Structural schemas: what objects look like, and what follows from it.
//!
//! Pure: nothing here reads a clock or does I/O.

mod field_error;
mod node;

pub use field_error::{FieldError, FieldErrorKind};
pub use node::{ListType, MapType, Schema, SchemaType};
