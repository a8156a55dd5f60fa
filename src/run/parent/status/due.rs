//! When the status is due: not in each reconcile that writes children, because the next one reports their effect.

use crate::journal::Progress;

/// The third reconcile in a row that writes children also writes the status.
const LAST_WITHOUT_STATUS: u32 = 1;

/// Whether a reconcile ends with the status. `after_writes` reconciles before it, in a row, wrote children.
pub(in crate::run) fn is_due(progress: &Progress, after_writes: u32) -> bool {
    progress.has_settled() || after_writes > LAST_WITHOUT_STATUS
}
