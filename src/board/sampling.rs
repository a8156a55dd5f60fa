//! Samples how busy the operators are.

use std::time::Instant;

use super::{Board, QueueState, Reader, TrendPoint};

impl Board {
    /// Adds a point to the trend of every operator. Called at each heartbeat of the runtime.
    pub(crate) fn sample(&self, now: Instant) {
        let queues: Vec<(String, Option<Reader<QueueState>>)> = {
            let contents = self.read();
            contents.operators.iter().map(|(name, it)| (name.clone(), it.queue.clone())).collect()
        };
        // Queues have locks of their own.
        let waiting = |queue: Reader<QueueState>| queue.read().waiting.values().sum();
        let waiting: Vec<(String, usize)> =
            queues.into_iter().map(|(name, queue)| (name, queue.map_or(0, waiting))).collect();
        let mut contents = self.write();
        for (name, waiting) in waiting {
            if let Some(operator) = contents.operators.get_mut(&name) {
                operator.trend.sample(waiting, now);
            }
        }
    }

    /// The last five minutes of an operator, the oldest point first.
    #[cfg_attr(not(any(test, feature = "dashboard")), expect(dead_code, reason = "for the page"))]
    pub(crate) fn trend(&self, operator: &str) -> Vec<TrendPoint> {
        self.read().operators.get(operator).map(|it| it.trend.points()).unwrap_or_default()
    }
}
