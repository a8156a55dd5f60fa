//! How many parents of an operator run and wait, as its queue says when it is asked.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::schedule::Priority;

/// The queue of an operator at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    /// How many runs are in flight.
    pub running: usize,
    /// How many may be at once.
    pub limit: usize,
    /// How many parents wait for a place, for every priority.
    pub waiting: BTreeMap<Priority, usize>,
    /// How long the one has waited that has waited longest.
    pub longest_wait: Option<Duration>,
}

/// Looks at the queue of an operator. It must not call the board.
#[derive(Clone)]
pub struct QueueReader(Arc<dyn Fn() -> QueueState + Send + Sync>);

impl QueueReader {
    /// What looks at a queue.
    pub fn new(look: impl Fn() -> QueueState + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(super) fn look(&self) -> QueueState {
        (self.0)()
    }
}

impl fmt::Debug for QueueReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueReader")
    }
}
