//! The types of related objects that an operator declares.

use crate::object::K8sType;

/// A type whose objects the handler reads and does not own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedType {
    /// The type.
    pub ty: K8sType,
    /// Whether only the metadata of its objects is read and cached.
    pub metadata_only: bool,
}
