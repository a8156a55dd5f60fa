//! The result of a deletion.

use crate::object::Object;

/// The result of a deletion.
#[derive(Debug, Clone)]
pub(crate) enum Deleted {
    /// It is gone.
    Gone,
    /// It has finalizers or a grace period, and is terminating.
    Terminating(Object),
}
