//! The commands of the supervisor to a reflector.

use super::observers::Observer;
use crate::{cluster::WatchSpec, operator::OperatorName};

/// An operator is to be notified.
pub(crate) struct Joined {
    pub(super) observer: Observer,
}

/// An operator is no longer to be notified.
pub(crate) struct Parted {
    pub(super) operator: OperatorName,
}

/// Other scopes are needed.
pub(crate) struct Rescoped {
    pub(super) scopes: Vec<WatchSpec>,
    /// Whether those that remain are listed again, because more is kept of the objects.
    pub(super) is_afresh: bool,
}

/// Nobody needs the type.
pub(crate) struct Stopped;
