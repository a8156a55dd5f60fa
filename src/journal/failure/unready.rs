//! Children that others wait for and that do not become ready.

use std::time::Duration;

use crate::{
    object::{K8sType, Quoted},
    plan::ChildId,
};

/// A stage was not ready in time.
#[derive(Debug, Clone, thiserror::Error)]
#[error("stage {stage} is not ready after {} s: {child}: {why}", .within.as_secs_f64())]
pub(crate) struct StageTimeout {
    /// From one.
    pub(crate) stage: usize,
    pub(crate) within: Duration,
    /// A child that is not ready.
    pub(crate) child: ChildId,
    /// Why it is not.
    pub(crate) why: Quoted,
}

/// Too many children of a rollout have failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the rollout of {ty} has stopped at {updated} of {children}: {child}: {why}")]
pub(crate) struct RolloutStopped {
    pub(crate) ty: K8sType,
    pub(crate) updated: usize,
    pub(crate) children: usize,
    /// The first child that has failed.
    pub(crate) child: ChildId,
    /// Why it has.
    pub(crate) why: Quoted,
}
