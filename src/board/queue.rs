//! How many parents of an operator are reconciled and wait, read from its queue on demand.

use std::{collections::BTreeMap, time::Duration};

use crate::schedule::Priority;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueState {
    pub(crate) running: usize,
    pub(crate) limit: usize,
    /// How many parents wait for a permit, for every priority.
    pub(crate) waiting: BTreeMap<Priority, usize>,
    /// How long the first parent has waited.
    pub(crate) longest_wait: Option<Duration>,
}
