//! Moves the clock of operators.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{TestCluster, busy::next_wake, settled::Sight};
use crate::supervisor::{Jump, RunError, Running, SupervisorBuilder};

/// The clock of the operators that [`TestCluster::run_with_clock`] has started.
#[derive(Debug)]
pub struct Clock {
    cluster: TestCluster,
    operators: Sight,
    jumps: mpsc::UnboundedSender<Jump>,
}

impl TestCluster {
    /// Runs operators as [`run`](Self::run) does, with a clock that the test moves: resyncs, retries and
    /// delays that take hours pass in milliseconds. See [`Clock::advance`].
    ///
    /// All of them share one thread, so a handler that blocks delays the others.
    ///
    /// # Errors
    /// The supervisor does not start; see [`RunError`].
    pub async fn run_with_clock(
        &self,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Result<(Running, Clock), RunError> {
        let (jumps, receiver) = mpsc::unbounded_channel();
        let running =
            self.start_operators(|builder| register(builder).with_jumps(receiver)).await?;
        let operators = self.watch_over(&running);
        Ok((running, Clock { cluster: self.clone(), operators, jumps }))
    }
}

impl Clock {
    /// Lets time pass for the operators, and waits until they have [settled](TestCluster::settled).
    ///
    /// The clock stops at each time at which a parent is reconciled, and continues when the operators have
    /// settled: a resync every ten minutes happens six times within an hour. Without a call, time passes as
    /// usual.
    ///
    /// It moves [`SyncRequest::now`](crate::operator::SyncRequest::now), the timers of the framework, and those of asynchronous handlers (`tokio::time`). It does not
    /// move the time that a handler reads itself (`SystemTime::now`), nor that of the API server.
    ///
    /// # Panics
    /// The operators do not settle within a minute, or have been stopped.
    pub async fn advance(&self, time: Duration) {
        let end = self.operators.now() + time;
        loop {
            self.cluster.settled().await;
            let now = self.operators.now();
            if now >= end {
                return;
            }
            let next = next_wake(self.operators.board()).filter(|next| *next < end).unwrap_or(end);
            self.jump(next.duration_since(now).unwrap_or_default()).await;
        }
    }

    async fn jump(&self, by: Duration) {
        // The timers count whole milliseconds.
        let by = by + Duration::from_millis(1);
        let (done, has_jumped) = oneshot::channel();
        let sent = self.jumps.send(Jump { by, done }).is_ok() && has_jumped.await.is_ok();
        assert!(sent, "the operators of the clock have been stopped");
        self.operators.moved(by);
    }
}
