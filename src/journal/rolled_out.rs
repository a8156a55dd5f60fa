//! How far a rollout is.

use std::fmt;

use crate::object::K8sType;

/// The children of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RolledOut {
    pub(crate) ty: K8sType,
    pub(crate) children: usize,
    /// How many are as desired.
    pub(crate) updated: usize,
    /// How many of them are ready.
    pub(crate) ready: usize,
    /// How many the server refuses to write.
    pub(crate) refused: usize,
    pub(crate) is_stopped: bool,
}

impl fmt::Display for RolledOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ty, children, updated, ready, refused, .. } = self;
        write!(f, "{ty}: {updated} of {children} are updated, {ready} of them are ready")?;
        match refused {
            0 => Ok(()),
            _ => write!(f, "; {refused} refused by the API server, the others go on"),
        }
    }
}
