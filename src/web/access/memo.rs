//! Memoizes reviews of tokens and permissions: equal queries share one request in flight, and its
//! answer is cached for a while.
//!
//! Failed requests are not cached. Positive and negative answers have separate caches, so that guessed
//! tokens do not evict valid ones. The number of concurrent requests is limited, and further queries
//! wait in order: guessing delays others, but does not lock them out.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{Semaphore, watch},
    time::{Instant, timeout},
};

use super::cache::Cache;
use crate::web::key::Key;

/// How long a positive answer is cached: a revoked token or permission may work for this long.
pub(super) const GOOD_FOR: Duration = Duration::from_mins(1);
/// How long a negative answer is cached: a new permission may take this long.
const BAD_FOR: Duration = Duration::from_secs(10);
/// The capacity of each cache.
const KEPT: usize = 1024;
/// The limit of concurrent requests.
const ASKED: usize = 64;
/// How many more may wait: one for each possible connection.
const WAITING: usize = 512;
/// How long a query may wait.
const TURN_WITHIN: Duration = Duration::from_secs(5);
/// How long a request may take after that.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The API server did not answer. The reason is only in the log.
    Down,
    /// Too many queries wait.
    Busy,
}

/// The outcome of a query: a positive answer, a negative one, or none.
pub(super) type Outcome<G, B> = Result<Result<G, B>, Unanswered>;

/// Answers of one kind. Clones share them.
#[derive(Debug)]
pub(super) struct Memo<G, B> {
    state: Arc<Mutex<MemoState<G, B>>>,
    /// First come, first served.
    turns: Arc<Semaphore>,
}

#[derive(Debug)]
struct MemoState<G, B> {
    good: Cache<G>,
    bad: Cache<B>,
    in_flight: HashMap<Key, watch::Receiver<Option<Outcome<G, B>>>>,
}

impl<G, B> Memo<G, B>
where
    G: Clone + Send + Sync + 'static,
    B: Clone + Send + Sync + 'static,
{
    pub(super) fn new() -> Self {
        let (good, bad) = (Cache::new(GOOD_FOR, KEPT), Cache::new(BAD_FOR, KEPT));
        let state = MemoState { good, bad, in_flight: HashMap::new() };
        Self { state: Arc::new(Mutex::new(state)), turns: Arc::new(Semaphore::new(ASKED)) }
    }

    /// The cached answer, or that of `ask`. A positive answer counts only if it is younger than `age`. The request
    /// runs on the runtime: it continues for other callers when the first one goes away.
    pub(super) async fn get(
        &self,
        key: Key,
        age: Duration,
        runtime: &Handle,
        ask: impl Future<Output = Outcome<G, B>> + Send + 'static,
    ) -> Outcome<G, B> {
        let mut answer = match self.begin(key, age, runtime, ask) {
            Begun::Known(answer) => return Ok(answer),
            Begun::TooMany => return Err(Unanswered::Busy),
            Begun::InFlight(answer) => answer,
        };
        match answer.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(Unanswered::Down)),
            // The runtime is ending.
            Err(_) => Err(Unanswered::Down),
        }
    }

    fn begin(
        &self,
        key: Key,
        age: Duration,
        runtime: &Handle,
        ask: impl Future<Output = Outcome<G, B>> + Send + 'static,
    ) -> Begun<G, B> {
        let (mut state, now) = (self.state(), Instant::now().into_std());
        if let Some(good) = state.good.get_within(&key, age, now) {
            return Begun::Known(Ok(good.clone()));
        }
        if let Some(bad) = state.bad.get(&key, now) {
            return Begun::Known(Err(bad.clone()));
        }
        if let Some(answer) = state.in_flight.get(&key) {
            return Begun::InFlight(answer.clone());
        }
        if state.in_flight.len() >= ASKED + WAITING {
            return Begun::TooMany;
        }
        let (sender, answer) = watch::channel(None);
        state.in_flight.insert(key, answer.clone());
        let memo = self.clone();
        runtime.spawn(async move {
            let outcome = memo.in_turn(ask).await;
            memo.end(key, &outcome);
            // The caller may be gone.
            let _ = sender.send(Some(outcome));
        });
        Begun::InFlight(answer)
    }

    async fn in_turn(&self, ask: impl Future<Output = Outcome<G, B>>) -> Outcome<G, B> {
        let Ok(Ok(_turn)) = timeout(TURN_WITHIN, self.turns.acquire()).await else {
            return Err(Unanswered::Busy);
        };
        timeout(PATIENCE, ask).await.unwrap_or(Err(Unanswered::Down))
    }

    fn end(&self, key: Key, outcome: &Outcome<G, B>) {
        let (mut state, now) = (self.state(), Instant::now().into_std());
        state.in_flight.remove(&key);
        match outcome {
            Ok(Ok(good)) => state.good.put(key, good.clone(), now),
            Ok(Err(bad)) => {
                state.good.remove(&key);
                state.bad.put(key, bad.clone(), now);
            }
            Err(Unanswered::Down | Unanswered::Busy) => {}
        }
    }

    #[cfg(test)]
    pub(super) fn forget(&self) {
        let mut state = self.state();
        (state.good, state.bad) = (Cache::new(GOOD_FOR, KEPT), Cache::new(BAD_FOR, KEPT));
    }

    fn state(&self) -> MutexGuard<'_, MemoState<G, B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G, B> Clone for Memo<G, B> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), turns: Arc::clone(&self.turns) }
    }
}

/// The state of a query after it started.
enum Begun<G, B> {
    Known(Result<G, B>),
    InFlight(watch::Receiver<Option<Outcome<G, B>>>),
    TooMany,
}

#[cfg(test)]
mod tests;
