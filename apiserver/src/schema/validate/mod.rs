//! Validates an object by its schema, with the messages of kube-apiserver, in its order.
//!
//! ```text
//!  schema ─ node: compiled once per version ─┐
//!  object ───────────────────────────────────┴─ judge: type ─ branches ─ text, number, list ─ enum ─ fields
//!                                                 embedded, list_type
//! ```
//!
//! `x-kubernetes-validations` is the part of `cel`.

pub(super) mod embedded;
pub(super) mod format;
mod go_syntax;
mod judge;
mod list_type;
mod node;
mod number;
mod outcome;
pub(super) mod pattern;
mod place;
mod published;
mod walk;

use serde_json::Value;

pub use self::node::ValidatorError;
pub(crate) use self::{format::has_format, pattern::parse as compile_pattern};
use self::{node::Node, place::Place};
use super::{FieldError, FieldPath, Schema, correlation::Pair};

/// A compiled schema, one per version of a resource.
/// The default accepts everything.
#[derive(Debug, Default)]
pub struct Validator {
    schema: Schema,
    node: Node,
}

impl Validator {
    /// Compiles a schema of objects, or of values inside of objects.
    pub fn new(schema: Schema) -> Result<Self, ValidatorError> {
        let node = Node::compile(&schema, node::Use::Objects, &FieldPath::root())?;
        Ok(Self { schema, node })
    }

    /// The same for the value that a field has by default, which is judged more leniently.
    pub(super) fn of_default(schema: Schema) -> Result<Self, ValidatorError> {
        let node = Node::compile(&schema, node::Use::Defaults, &FieldPath::root())?;
        Ok(Self { schema, node })
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The errors of a created object, or of one that was changed from `old`.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.validate_at(&FieldPath::root(), object, old);
        errors.extend(embedded::errors(&self.schema, object, &FieldPath::root()));
        let was_wrong = old.is_some_and(|old| !list_type::errors(&self.schema, old).is_empty());
        if !was_wrong {
            errors.extend(list_type::errors(&self.schema, object));
        }
        errors
    }

    /// The errors of the schema for a value at `path`, such as a written `status`. What did not change since `old` has
    /// none.
    pub fn validate_at(
        &self,
        path: &FieldPath,
        value: &Value,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        let pair = old.map(|old| Pair { new: value, old, schema: &self.schema });
        let place = Place { base: path, name: String::new(), pair };
        self.node.judge_unless_unchanged(value, &place).into_errors()
    }
}

#[cfg(test)]
mod tests;
