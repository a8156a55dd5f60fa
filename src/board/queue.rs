//! How many parents of an operator run and wait, as its queue says when it is asked.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use super::Board;
use crate::{operator::OperatorName, schedule::Priority};

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
}

impl Board {
    /// Shows the queue of an operator.
    pub fn show_queue(&self, operator: &OperatorName, queue: QueueReader) {
        if let Some(operator) = self.write().operators.get_mut(operator.as_str()) {
            operator.queue = Some(queue);
        }
    }

    /// The queue of an operator as it is now, once it has one.
    pub fn queue(&self, operator: &str) -> Option<QueueState> {
        // The board is let go of first: the queue has a lock of its own.
        let QueueReader(look) = self.read().operators.get(operator)?.queue.clone()?;
        Some(look())
    }
}

impl fmt::Debug for QueueReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueReader")
    }
}
