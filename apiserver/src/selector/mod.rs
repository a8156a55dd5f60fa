//! Label and field selectors: the query strings that narrow a list or a watch.
//!
//! The caller knows the supported fields of a resource; see [`FieldSelector::check_fields`].

mod error;
mod field;
mod label;
mod lexer;
mod text;

pub use error::ParseError;
pub use field::{FieldOperator, FieldRequirement, FieldSelector};
pub use label::{LabelSelector, Operator, Requirement};
pub(crate) use text::of_label_selector;

#[cfg(test)]
mod tests;
