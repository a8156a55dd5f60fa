//! Sharing of requests, their limits, and the lifetime of answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use tokio::task::JoinHandle;

use super::*;

type Numbers = Memo<usize, usize>;

fn key(number: usize) -> Key {
    Key::of(&[&number.to_le_bytes()])
}

#[tokio::test]
async fn equal_queries_share_one_request_and_its_answer() {
    let (memo, asked) = (Numbers::new(), Arc::new(AtomicUsize::new(0)));
    let ask = || {
        let asked = Arc::clone(&asked);
        async move {
            tokio::task::yield_now().await;
            Ok(Ok(asked.fetch_add(1, Ordering::SeqCst)))
        }
    };
    let runtime = Handle::current();
    let answers = join_all((0..100).map(|_| memo.get(key(1), GOOD_FOR, &runtime, ask()))).await;
    assert!(answers.iter().all(|answer| *answer == Ok(Ok(0))), "{answers:?}");
    assert_eq!(memo.get(key(1), GOOD_FOR, &runtime, ask()).await, Ok(Ok(0)));
    assert_eq!(memo.get(key(2), GOOD_FOR, &runtime, ask()).await, Ok(Ok(1)));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failed_request_is_not_cached() {
    let (memo, runtime) = (Numbers::new(), Handle::current());
    assert_eq!(
        memo.get(key(1), GOOD_FOR, &runtime, async { Err(Unanswered::Down) }).await,
        Err(Unanswered::Down)
    );
    assert_eq!(memo.get(key(1), GOOD_FOR, &runtime, async { Ok(Err(7)) }).await, Ok(Err(7)));
    assert_eq!(memo.get(key(1), GOOD_FOR, &runtime, async { Ok(Ok(8)) }).await, Ok(Err(7)));
}

#[tokio::test]
async fn negative_answers_do_not_evict_positive_ones() {
    let (memo, runtime) = (Numbers::new(), Handle::current());
    let _ = memo.get(key(0), GOOD_FOR, &runtime, async { Ok(Ok(1)) }).await;
    for number in 1..2 * KEPT {
        let _ = memo.get(key(number), GOOD_FOR, &runtime, async { Ok(Err(0)) }).await;
    }
    assert_eq!(
        memo.get(key(0), GOOD_FOR, &runtime, async { Err(Unanswered::Down) }).await,
        Ok(Ok(1))
    );
}

/// Requests that are answered once the semaphore is closed.
struct Held {
    memo: Numbers,
    gate: Arc<Semaphore>,
    asked: Arc<AtomicUsize>,
}

impl Held {
    fn new() -> Self {
        let (memo, gate) = (Numbers::new(), Arc::new(Semaphore::new(0)));
        Self { memo, gate, asked: Arc::default() }
    }

    /// Starts a query in the background; its answer is its position in the order of requests.
    fn ask(&self, number: usize) -> JoinHandle<Outcome<usize, usize>> {
        let (memo, gate, asked) = (self.memo.clone(), self.gate.clone(), self.asked.clone());
        let ask = async move {
            let turn = asked.fetch_add(1, Ordering::SeqCst);
            let _ = gate.acquire().await;
            Ok(Ok(turn))
        };
        tokio::spawn(async move { memo.get(key(number), GOOD_FOR, &Handle::current(), ask).await })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Lets all spawned tasks proceed: the runtime of the test has one thread.
async fn settled() {
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn queries_beyond_the_limit_wait_in_order() {
    let held = Held::new();
    let all: Vec<_> = (0..ASKED + 20).map(|number| held.ask(number)).collect();
    settled().await;
    assert_eq!(held.asked(), ASKED, "the limit of concurrent requests");
    held.gate.close();
    for (turn, answer) in join_all(all).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), Ok(Ok(turn)));
    }
}

#[tokio::test]
async fn too_many_waiting_queries_are_refused() {
    let held = Held::new();
    let all: Vec<_> = (0..ASKED + WAITING).map(|number| held.ask(number)).collect();
    settled().await;
    assert_eq!(held.ask(ASKED + WAITING).await.unwrap(), Err(Unanswered::Busy));
    let again = held.ask(0);
    held.gate.close();
    for answer in join_all(all).await {
        assert!(matches!(answer.unwrap(), Ok(Ok(_))));
    }
    assert_eq!(again.await.unwrap(), Ok(Ok(0)), "a request in flight is shared");
    assert!(matches!(held.ask(ASKED + WAITING).await.unwrap(), Ok(Ok(_))), "there is room again");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_turn_and_for_an_answer_is_limited() {
    let (held, begun) = (Held::new(), tokio::time::Instant::now());
    let asked: Vec<_> = (0..ASKED).map(|number| held.ask(number)).collect();
    settled().await;
    assert_eq!(held.asked(), ASKED);
    assert_eq!(held.ask(ASKED).await.unwrap(), Err(Unanswered::Busy));
    assert_eq!(begun.elapsed().as_secs(), TURN_WITHIN.as_secs());
    for answer in join_all(asked).await {
        assert_eq!(answer.unwrap(), Err(Unanswered::Down));
    }
    assert_eq!(begun.elapsed().as_secs(), PATIENCE.as_secs());
    assert!(held.memo.state().in_flight.is_empty());
}

#[tokio::test]
async fn a_request_continues_when_its_first_caller_is_gone() {
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
    let first = memo.get(key(1), GOOD_FOR, &runtime, ask);
    assert!(futures::poll!(std::pin::pin!(first)).is_pending());
    held.close();
    assert_eq!(memo.get(key(1), GOOD_FOR, &runtime, async { Ok(Ok(2)) }).await, Ok(Ok(1)));
}
