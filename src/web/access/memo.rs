//! Asking a question once: who asks the same while an answer is under way waits for that one, and
//! who asks soon after gets it again.
//!
//! An answer that could not be had is not remembered. What is good for whoever asks and what is
//! not are kept apart, so that guessing pushes out nobody who is let in.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::watch};

use super::cache::{Cache, Key};

/// How long a favourable answer holds: as long as a withdrawn token or right may still work.
const GOOD_FOR: Duration = Duration::from_mins(1);
/// How long another one holds: as long as one waits after a right was given.
const BAD_FOR: Duration = Duration::from_secs(10);
/// How many answers of either kind are kept.
const KEPT: usize = 1024;
/// How many different questions may be under way.
const UNDER_WAY: usize = 64;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// No answer could be had. Why is in the log: it is not for everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unavailable;

/// What came of a question: the answer, favourable or not, or none.
pub(super) type Outcome<G, B> = Result<Result<G, B>, Unavailable>;

/// Answers of one kind. Clones share them.
#[derive(Debug)]
pub(super) struct Memo<G, B>(Arc<Mutex<State<G, B>>>);

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
        Self(Arc::new(Mutex::new(State { good, bad, under_way: HashMap::new() })))
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
            Begun::TooMany => return Err(Unavailable),
            Begun::UnderWay(answer) => answer,
        };
        match answer.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(Unavailable)),
            // The runtime is ending.
            Err(_) => Err(Unavailable),
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
        if state.under_way.len() >= UNDER_WAY {
            return Begun::TooMany;
        }
        let (say, answer) = watch::channel(None);
        state.under_way.insert(key, answer.clone());
        let memo = Self(Arc::clone(&self.0));
        runtime.spawn(async move {
            let outcome = tokio::time::timeout(PATIENCE, ask).await.unwrap_or(Err(Unavailable));
            memo.end(key, &outcome);
            // Nobody may be waiting any more.
            let _ = say.send(Some(outcome));
        });
        Begun::UnderWay(answer)
    }

    fn end(&self, key: Key, outcome: &Outcome<G, B>) {
        let (mut state, now) = (self.state(), Instant::now());
        state.under_way.remove(&key);
        match outcome {
            Ok(Ok(good)) => state.good.put(key, good.clone(), now),
            Ok(Err(bad)) => state.bad.put(key, bad.clone(), now),
            Err(Unavailable) => {}
        }
    }

    /// As if all that is known were over.
    #[cfg(test)]
    pub(super) fn forget(&self) {
        let mut state = self.state();
        (state.good, state.bad) = (Cache::new(GOOD_FOR, KEPT), Cache::new(BAD_FOR, KEPT));
    }

    fn state(&self) -> MutexGuard<'_, State<G, B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a question stands once it is asked.
enum Begun<G, B> {
    Known(Result<G, B>),
    UnderWay(watch::Receiver<Option<Outcome<G, B>>>),
    TooMany,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    type Numbers = Memo<usize, usize>;

    fn key(number: usize) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        key
    }

    #[tokio::test]
    async fn the_same_question_is_asked_once_by_all_who_ask_it_at_once_and_soon_after() {
        let (memo, asked) = (Numbers::new(), Arc::new(AtomicUsize::new(0)));
        let ask = || {
            let asked = Arc::clone(&asked);
            async move {
                tokio::task::yield_now().await;
                Ok(Ok(asked.fetch_add(1, Ordering::SeqCst)))
            }
        };
        let runtime = Handle::current();
        let answers = join_all((0..100).map(|_| memo.get(key(1), &runtime, ask()))).await;
        assert!(answers.iter().all(|answer| *answer == Ok(Ok(0))), "{answers:?}");
        assert_eq!(memo.get(key(1), &runtime, ask()).await, Ok(Ok(0)));
        assert_eq!(memo.get(key(2), &runtime, ask()).await, Ok(Ok(1)));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn no_answer_is_remembered_as_none() {
        let (memo, runtime) = (Numbers::new(), Handle::current());
        assert_eq!(memo.get(key(1), &runtime, async { Err(Unavailable) }).await, Err(Unavailable));
        assert_eq!(memo.get(key(1), &runtime, async { Ok(Err(7)) }).await, Ok(Err(7)));
        assert_eq!(memo.get(key(1), &runtime, async { Ok(Ok(8)) }).await, Ok(Err(7)));
    }

    #[tokio::test]
    async fn bad_answers_push_out_no_good_one() {
        let (memo, runtime) = (Numbers::new(), Handle::current());
        let _ = memo.get(key(0), &runtime, async { Ok(Ok(1)) }).await;
        for number in 1..2 * KEPT {
            let _ = memo.get(key(number), &runtime, async { Ok(Err(0)) }).await;
        }
        assert_eq!(memo.get(key(0), &runtime, async { Err(Unavailable) }).await, Ok(Ok(1)));
    }

    #[tokio::test]
    async fn too_many_questions_at_once_are_not_asked() {
        let (memo, runtime) = (Numbers::new(), Handle::current());
        let held = Arc::new(Semaphore::new(0));
        let ask = |held: Arc<Semaphore>| async move {
            let _ = held.acquire().await;
            Ok(Ok(1))
        };
        let asking = |number| {
            let (memo, runtime, held) = (Memo(Arc::clone(&memo.0)), runtime.clone(), held.clone());
            async move { memo.get(key(number), &runtime, ask(held)).await }
        };
        let waiting: Vec<_> = (0..UNDER_WAY).map(|number| tokio::spawn(asking(number))).collect();
        while memo.state().under_way.len() < UNDER_WAY {
            tokio::task::yield_now().await;
        }
        assert_eq!(asking(UNDER_WAY).await, Err(Unavailable));
        held.close();
        for answer in join_all(waiting).await {
            assert_eq!(answer.unwrap(), Ok(Ok(1)));
        }
        assert_eq!(asking(UNDER_WAY).await, Ok(Ok(1)));
    }

    #[tokio::test]
    async fn an_answer_comes_also_when_who_asked_first_has_gone() {
        let (memo, runtime) = (Numbers::new(), Handle::current());
        let held = Arc::new(Semaphore::new(0));
        let ask = {
            let held = held.clone();
            async move {
                let _ = held.acquire().await;
                Ok(Ok(1))
            }
        };
        // Polled once, then dropped.
        let first = memo.get(key(1), &runtime, ask);
        assert!(futures::poll!(std::pin::pin!(first)).is_pending());
        held.close();
        assert_eq!(memo.get(key(1), &runtime, async { Ok(Ok(2)) }).await, Ok(Ok(1)));
    }
}
