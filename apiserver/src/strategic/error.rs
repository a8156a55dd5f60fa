//! Why a strategic merge patch cannot be applied, in the words of the real server.
//!
//! The status of the answer is decided in [`crate::rest`].

use serde_json::{Map, Value};
use thiserror::Error;

use super::wording::{plain, text, type_name};
use crate::builtin::PatchFieldError;

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum StrategicError {
    /// A list of lists.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// `$deleteFromPrimitiveList` without a name.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// `$retainKeys` that is no list, or lacks a field of the patch.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// `$setElementOrder` without a name, or with something that is no list.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
    /// The order contradicts the patch.
    #[error(
        "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
        plain(patch),
        plain(order)
    )]
    OrderMismatch { patch: Value, order: Value },
    /// An element of a list lacks its merge key.
    #[error("map: {} does not contain declared merge key: {key}", plain(element))]
    NoMergeKey { element: Value, key: &'static str },
    /// A value of another type was expected.
    #[error("expected a {expected}, but received a {}", type_name(found))]
    BadType { expected: &'static str, found: Value },
    /// `$patch` with an unknown word.
    #[error("unknown patch type: {} in map: {}", text(word), plain(map))]
    BadDirective { word: Value, map: Value },
    /// `$patch: merge` in an element.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// The elements of a list differ in type.
    #[error("list element types are not identical: {}", plain(lists))]
    MixedElements { lists: Value },
    /// An order, but no elements.
    #[error("no elements in any of the given slices")]
    NoElements,
    /// A list of objects that has no merge key.
    #[error("cannot merge lists without merge key for {0}")]
    NoDeclaredKey(&'static str),
    /// A null in a list of scalars, at which the real server breaks off.
    #[error("This request caused apiserver to panic. Look in the logs for details.")]
    NullElement,
    /// The type does not have the field.
    #[error(transparent)]
    Field(#[from] PatchFieldError),
}

impl StrategicError {
    pub(super) fn bad_type(expected: &'static str, found: &Value) -> Self {
        Self::BadType { expected, found: found.clone() }
    }

    pub(super) fn no_merge_key(element: &Map<String, Value>, key: &'static str) -> Self {
        Self::NoMergeKey { element: Value::Object(element.clone()), key }
    }
}
