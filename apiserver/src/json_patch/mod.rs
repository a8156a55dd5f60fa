//! JSON patches (RFC 6902), with limits that hold while a patch is applied, not after.
//!
//! ```text
//!  document ─> JsonPatch ─> operation (one by one) ─> pointer: finds the value of a path
//!                                                  └> limits: what all operations have used
//! ```
//!
//! Where the RFC and kube-apiserver differ, this follows kube-apiserver: negative indices count from the
//! end, `replace` and `copy` accept an absent member, and an absent value is null.

mod limits;
mod operation;
mod pointer;

use serde_json::{Map, Value};

use self::{
    limits::{Inapplicable, Spent},
    operation::apply,
};
use crate::{builtin, status::StatusError};

/// How many operations a patch may have.
const OPERATIONS_LIMIT: usize = 10_000;

/// The members of an operation.
const FIELDS: [&str; 4] = ["from", "op", "path", "value"];

/// The Go types of a patch and of an operation, as the handler of requests reads them.
pub(crate) const OF_HANDLER: (&str, &str) = ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp");
/// The Go types of a patch and of an operation, as the library of patches reads them.
pub(crate) const OF_LIBRARY: (&str, &str) = ("jsonpatch.Patch", "jsonpatch.Operation");

/// A parsed patch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonPatch(Vec<Map<String, Value>>);

impl JsonPatch {
    /// The patch in a document; `null` is the empty one.
    pub(crate) fn of(
        document: Value,
        (whole, each): (&str, &str),
        refuse: impl Fn(&str) -> StatusError,
    ) -> Result<Self, StatusError> {
        let operations = match document {
            Value::Array(operations) => operations,
            Value::Null => Vec::new(),
            other => return Err(refuse(&mismatch(&other, whole))),
        };
        if operations.len() > OPERATIONS_LIMIT {
            return Err(StatusError::too_many_operations(operations.len(), OPERATIONS_LIMIT));
        }
        let operation = |operation| match operation {
            Value::Object(operation) => Ok(operation),
            Value::Null => Ok(Map::new()),
            other => Err(refuse(&mismatch(&other, each))),
        };
        operations.into_iter().map(operation).collect::<Result<_, _>>().map(Self)
    }

    /// Members without a meaning in an operation.
    pub(crate) fn unknown_fields(&self) -> impl Iterator<Item = String> {
        let unknown = |(at, operation): (usize, &Map<String, Value>)| {
            let fields = operation.keys().filter(|field| !FIELDS.contains(&field.as_str()));
            fields.map(|field| format!("[{at}].{field}")).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(unknown)
    }

    /// A document after the patch.
    pub(crate) fn applied_to(&self, document: &Value) -> Result<Value, StatusError> {
        self.applied_until(document).map_err(|_| StatusError::unprocessable_patch())
    }

    /// A document after the patch. The error is the first operation that does not apply, with the document
    /// before it.
    pub(crate) fn applied_until(
        &self,
        document: &Value,
    ) -> Result<Value, (Value, &Map<String, Value>)> {
        let mut next = document.clone();
        let mut spent = Spent::default();
        for operation in &self.0 {
            // What does not apply has changed nothing.
            if let Err(Inapplicable) = apply(&mut next, operation, &mut spent) {
                return Err((next, operation));
            }
        }
        Ok(next)
    }
}

/// How Go says that a value has another type.
pub(crate) fn mismatch(found: &Value, go_type: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {go_type}", builtin::json_name(found))
}

#[cfg(test)]
mod tests;
