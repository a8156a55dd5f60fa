//! How many parents of an operator run and wait, as its queue says when it is asked.

use std::{collections::BTreeMap, time::Duration};

use crate::schedule::Priority;

/// The queue of an operator at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    /// How many reconciles are in flight.
    pub running: usize,
    /// How many may be at once.
    pub limit: usize,
    /// How many parents wait for a place, for every priority.
    pub waiting: BTreeMap<Priority, usize>,
    /// How long the one has waited that has waited longest.
    pub longest_wait: Option<Duration>,
}
