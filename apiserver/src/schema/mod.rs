//! Structural schemas: the shape of objects, pruning, defaults and validation.
//!
//! Pure: nothing here reads a clock or does I/O.

mod correlation;
mod crd;
mod default;
mod field_error;
mod field_path;
pub(crate) mod go_schema;
pub(crate) mod go_value;
pub mod metadata;
pub mod name_rule;
mod node;
mod packed;
mod prune;
mod structural;
mod validate;

pub(crate) use correlation::{Pair, correlated};
pub use default::{default, default_applied};
pub use field_error::{FieldError, FieldErrorKind};
pub use field_path::FieldPath;
pub use node::{ListType, MapType, Schema, SchemaType};
pub(crate) use packed::{LazySchema, PackedSchema};
pub use prune::prune;
pub(crate) use structural::{
    Strictness, default_errors, form_errors, has as schema_has, keywords, strictness,
    unrecognized_formats,
};
pub use validate::{Validator, ValidatorError};
pub(crate) use validate::{compile_pattern, has_format};
