//! Asking a question once: who asks the same while an answer is under way waits for that one, and
//! who asks soon after gets it again.
//!
//! An answer that could not be had is not remembered. What is good for whoever asks and what is
//! not are kept apart, so that guessing pushes out nobody who is let in. And where too much is under
//! way a question waits for its turn, in the order of asking: who guesses much delays others a
//! little, and keeps nobody out.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{Semaphore, watch},
    time::timeout,
};

use super::{cache::Cache, key::Key};

/// How long a favourable answer holds: as long as a withdrawn token or right may still work.
const GOOD_FOR: Duration = Duration::from_mins(1);
/// How long another one holds: as long as one waits after a right was given.
const BAD_FOR: Duration = Duration::from_secs(10);
/// How many answers of either kind are kept.
const KEPT: usize = 1024;
/// How many different questions are asked at once.
const ASKED: usize = 64;
/// How many more may wait: one of each connection that there is room for.
const WAITING: usize = 512;
/// How long one may wait.
const TURN_WITHIN: Duration = Duration::from_secs(5);
/// How long an answer may take from then on.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why no answer could be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// Nobody answers. Why is in the log: it is not for everybody.
    Down,
    /// Too much is asked at once.
    Busy,
}

/// What came of a question: the answer, favourable or not, or none.
pub(super) type Outcome<G, B> = Result<Result<G, B>, Unanswered>;

/// Answers of one kind. Clones share them.
#[derive(Debug)]
pub(super) struct Memo<G, B> {
    state: Arc<Mutex<State<G, B>>>,
    /// First come, first served.
    turns: Arc<Semaphore>,
}

#[derive(Debug)]
struct State<G, B> {
    good: Cache<G>,
    bad: Cache<B>,
    under_way: HashMap<Key, watch::Receiver<Option<Outcome<G, B>>>>,
}

impl<G, B> Memo<G, B>
where
    G: Clone + Send + Sync + 'static,
    B: Clone + Send + Sync + 'static,
{
    pub(super) fn new() -> Self {
        let (good, bad) = (Cache::new(GOOD_FOR, KEPT), Cache::new(BAD_FOR, KEPT));
        let state = State { good, bad, under_way: HashMap::new() };
        Self { state: Arc::new(Mutex::new(state)), turns: Arc::new(Semaphore::new(ASKED)) }
    }

    /// The answer that is known, or that `ask` brings. It is asked on the runtime: that who asked
    /// first goes away ends nothing for the others.
    pub(super) async fn get(
        &self,
        key: Key,
        runtime: &Handle,
        ask: impl Future<Output = Outcome<G, B>> + Send + 'static,
    ) -> Outcome<G, B> {
        let mut answer = match self.begin(key, runtime, ask) {
            Begun::Known(answer) => return Ok(answer),
            Begun::TooMany => return Err(Unanswered::Busy),
            Begun::UnderWay(answer) => answer,
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
        runtime: &Handle,
        ask: impl Future<Output = Outcome<G, B>> + Send + 'static,
    ) -> Begun<G, B> {
        let (mut state, now) = (self.state(), Instant::now());
        if let Some(good) = state.good.get(&key, now) {
            return Begun::Known(Ok(good.clone()));
        }
        if let Some(bad) = state.bad.get(&key, now) {
            return Begun::Known(Err(bad.clone()));
        }
        if let Some(answer) = state.under_way.get(&key) {
            return Begun::UnderWay(answer.clone());
        }
        if state.under_way.len() >= ASKED + WAITING {
            return Begun::TooMany;
        }
        let (say, answer) = watch::channel(None);
        state.under_way.insert(key, answer.clone());
        let memo = self.clone();
        runtime.spawn(async move {
            let outcome = memo.in_turn(ask).await;
            memo.end(key, &outcome);
            // Nobody may be waiting any more.
            let _ = say.send(Some(outcome));
        });
        Begun::UnderWay(answer)
    }

    async fn in_turn(&self, ask: impl Future<Output = Outcome<G, B>>) -> Outcome<G, B> {
        let Ok(Ok(_turn)) = timeout(TURN_WITHIN, self.turns.acquire()).await else {
            return Err(Unanswered::Busy);
        };
        timeout(PATIENCE, ask).await.unwrap_or(Err(Unanswered::Down))
    }

    fn end(&self, key: Key, outcome: &Outcome<G, B>) {
        let (mut state, now) = (self.state(), Instant::now());
        state.under_way.remove(&key);
        match outcome {
            Ok(Ok(good)) => state.good.put(key, good.clone(), now),
            Ok(Err(bad)) => state.bad.put(key, bad.clone(), now),
            Err(Unanswered::Down | Unanswered::Busy) => {}
        }
    }

    /// As if all that is known were over.
    #[cfg(test)]
    pub(super) fn forget(&self) {
        let mut state = self.state();
        (state.good, state.bad) = (Cache::new(GOOD_FOR, KEPT), Cache::new(BAD_FOR, KEPT));
    }

    fn state(&self) -> MutexGuard<'_, State<G, B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G, B> Clone for Memo<G, B> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), turns: Arc::clone(&self.turns) }
    }
}

/// Where a question stands once it is asked.
enum Begun<G, B> {
    Known(Result<G, B>),
    UnderWay(watch::Receiver<Option<Outcome<G, B>>>),
    TooMany,
}

#[cfg(test)]
mod tests;
