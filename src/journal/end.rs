//! How far a parent has got.

/// How far a parent has got on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// It is there, as far as the reconcile knows.
    #[default]
    Alive,
    /// It has changed since the reconcile began: another one decides again.
    Outdated,
    /// Its handler has not finished finalizing it.
    Finalizing,
    /// It was finalized, and may go.
    Finalized,
    /// It was gone before the reconcile began.
    Gone,
}
