//! Waits until operators have nothing left to do.
//!
//! It looks at the operators, then at the server, then at the operators again. When the caches had all that
//! the server listed, and nothing has happened in between, there was nothing left to do at the time of the
//! list.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::time::{Instant, sleep, timeout_at};

use super::{behind::behind, busy::busy, eventually::DEADLINE};
use crate::{
    board::Board,
    metrics::Metrics,
    reply::ErrorClass,
    supervisor::{Running, Watches},
};

/// Operators that have not settled in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsettled {
    /// How long the test waited.
    pub waited: Duration,
    /// What was left to do, at the last look: each parent, and each object that a cache lacked.
    pub reasons: Vec<String>,
}

impl Running {
    /// Waits until the operators have nothing left to do: their caches have all that the server has, and no
    /// reconcile is in progress, queued or due, because of a change, of their own writes, or of a delay in
    /// which changes are collected.
    ///
    /// A parent that waits for something else is settled: it is in backoff after an error, is stalled or
    /// paused, waits for a child or for another object, or has a resync in the future. So is an operator that
    /// is degraded, because a type is missing or forbidden. Work of the server and of other controllers
    /// counts once it is written: after a deletion wait for the end of the garbage collection with
    /// [`eventually`](super::eventually). Kubernetes Events of operators are sent by then.
    ///
    /// Works on any cluster. It lists each watched type by the connection of the operators, with the user agent
    /// `operetta-testkit`.
    ///
    /// # Panics
    /// After a minute, with what is left to do.
    pub async fn settled(&self) {
        assert_settled(self.settled_within(DEADLINE).await);
    }

    /// The same without a panic.
    ///
    /// # Errors
    /// The operators have not settled within this time.
    pub async fn settled_within(&self, time: Duration) -> Result<(), Unsettled> {
        settle(&[Sight::of(self)], time).await
    }
}

#[expect(clippy::panic, reason = "a test fails by panicking")]
pub(super) fn assert_settled(settled: Result<(), Unsettled>) {
    if let Err(unsettled) = settled {
        panic!("{unsettled}");
    }
}

/// What is looked at of a supervisor.
#[derive(Debug, Clone)]
pub(super) struct Sight {
    board: Board,
    metrics: Metrics,
    watches: Watches,
    /// How far the clock of the supervisor was moved.
    moved: Arc<Mutex<Duration>>,
}

impl Sight {
    pub(super) fn of(running: &Running) -> Self {
        let (board, metrics) = (running.board().clone(), running.metrics().clone());
        let Watches { cluster, watched } = running.watches().clone();
        let watches = Watches { cluster: cluster.of_testkit(), watched };
        Self { board, metrics, watches, moved: Arc::default() }
    }

    /// The time of day of the supervisor.
    pub(super) fn now(&self) -> SystemTime {
        SystemTime::now() + *self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn moved(&self, by: Duration) {
        *self.moved.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    pub(super) fn has_ended(&self) -> bool {
        self.board.is_stopping()
    }

    /// How much work was ever done, if all of it is.
    fn at_rest(&self) -> Result<u64, Vec<String>> {
        let activity = self.metrics.activity();
        let Some(done) = activity.at_rest() else {
            let busy = busy(&self.board, self.now());
            let passing = || vec!["a change is being processed".to_owned()];
            return Err(if busy.is_empty() { passing() } else { busy });
        };
        match busy(&self.board, self.now()) {
            busy if busy.is_empty() => Ok(done),
            busy => Err(busy),
        }
    }

    /// What the caches lack of what the server has.
    async fn behind(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (spec, store) in self.watches.watched.now() {
            match self.watches.cluster.list_all(&spec).await {
                Ok(list) => all.extend(behind(&list, spec.namespace.as_deref(), &store)),
                // The operators that need it are degraded, or use another watch.
                Err(error)
                    if matches!(error.class(), ErrorClass::Forbidden | ErrorClass::NotServed) => {}
                Err(error) => all.push(error.to_string()),
            }
        }
        all
    }
}

/// Waits until the operators of all these supervisors have settled: they may react to each other.
pub(super) async fn settle(all: &[Sight], time: Duration) -> Result<(), Unsettled> {
    let deadline = Instant::now() + time;
    let mut reasons = vec!["the API server does not answer a list".to_owned()];
    while !all.iter().any(Sight::has_ended) {
        match timeout_at(deadline, look(all)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(found)) => reasons = found,
            // The last complete look says more.
            Err(_) => {}
        }
        // A look that is ready at once never times out.
        if Instant::now() >= deadline {
            return Err(Unsettled { waited: time, reasons });
        }
        sleep(Duration::from_millis(5)).await;
    }
    Err(Unsettled { waited: time, reasons: vec!["the supervisor has been stopped".to_owned()] })
}

async fn look(all: &[Sight]) -> Result<(), Vec<String>> {
    let at_rest = || all.iter().map(Sight::at_rest).collect::<Result<Vec<_>, _>>();
    let before = at_rest()?;
    let mut behind = Vec::new();
    for sight in all {
        behind.extend(sight.behind().await);
    }
    match at_rest()? == before {
        _ if !behind.is_empty() => Err(behind),
        true => Ok(()),
        false => Err(vec!["changes arrive all the time".to_owned()]),
    }
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waited, reasons } = self;
        write!(f, "the operators have not settled within {} s:", waited.as_secs_f64())?;
        reasons.iter().try_for_each(|reason| write!(f, "\n- {reason}"))
    }
}

impl std::error::Error for Unsettled {}
