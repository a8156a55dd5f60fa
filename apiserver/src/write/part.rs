//! Which subresources write a part of a built-in object that has rules of its own.

use crate::{builtin::Part, resource::Subresource};

/// The part of a built-in object that a subresource writes, if it is one of its own.
pub(super) fn part_of(subresource: Subresource) -> Option<Part> {
    match subresource {
        Subresource::Approval => Some(Part::Approval),
        Subresource::EphemeralContainers => Some(Part::EphemeralContainers),
        Subresource::Resize => Some(Part::Resize),
        Subresource::Main | Subresource::Status | Subresource::Scale | Subresource::Finalize => {
            None
        }
    }
}
