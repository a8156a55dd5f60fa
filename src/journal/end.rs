//! The state of a parent at the end of a reconcile.

/// The state of a parent at the end of a reconcile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// It exists, as far as the reconcile knows.
    #[default]
    Alive,
    /// It has changed since the reconcile began: another reconcile decides again.
    Outdated,
    /// Its handler has not finished finalizing it.
    Finalizing,
    /// It was finalized and released.
    Finalized,
    /// It was gone before the reconcile began.
    Gone,
}
