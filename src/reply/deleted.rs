//! What a deletion left.

use crate::object::Object;

/// What became of an object that was deleted.
#[derive(Debug, Clone)]
pub enum Deleted {
    /// It is gone.
    Gone,
    /// It has finalizers or a grace period, and is on its way.
    Terminating(Object),
}
