//! The threads of the reconcilers. The uid of a parent selects its thread.

use std::{sync::Arc, time::Instant};

use actix::{Actor, Addr, Arbiter, ArbiterHandle};

use super::reconciler::{Reconciler, seed};
use crate::{
    board::{BEAT_EVERY, Board},
    object::Uid,
};

/// Threads for the reconcilers of all operators. Dropping it stops the threads with their reconcilers and
/// waits for their end, which is short because no actor blocks.
pub(crate) struct Arbiters(Vec<Arbiter>);

#[derive(Clone, Default)]
pub(crate) struct ArbiterPool(Arc<[ArbiterHandle]>);

impl Arbiters {
    /// Starts `count` threads, each with a heartbeat on the board. Must be called within an actix system.
    pub(crate) fn start(count: usize, board: &Board) -> Self {
        let start = |number| {
            let (arbiter, pulse) = (Arbiter::new(), board.pulse(name(number), Instant::now()));
            arbiter.spawn(async move {
                loop {
                    tokio::time::sleep(BEAT_EVERY).await;
                    pulse.beat(Instant::now());
                }
            });
            arbiter
        };
        Self((0..count).map(start).collect())
    }

    pub(crate) fn pool(&self) -> ArbiterPool {
        ArbiterPool(self.0.iter().map(Arbiter::handle).collect())
    }
}

fn name(number: usize) -> String {
    format!("reconcilers/{number}")
}

impl ArbiterPool {
    /// Starts the reconciler of a parent on its thread, or on the current one if the pool is empty.
    pub(super) fn start(
        &self,
        uid: &Uid,
        make: impl FnOnce() -> Reconciler + Send + 'static,
    ) -> Addr<Reconciler> {
        match self.of(uid) {
            Some(arbiter) => Reconciler::start_in_arbiter(arbiter, move |_| make()),
            None => make().start(),
        }
    }

    fn of(&self, uid: &Uid) -> Option<&ArbiterHandle> {
        let count = u64::try_from(self.0.len()).ok()?;
        let number = seed(uid).checked_rem(count)?;
        self.0.get(usize::try_from(number).ok()?)
    }
}

impl Drop for Arbiters {
    fn drop(&mut self) {
        for arbiter in &self.0 {
            arbiter.stop();
        }
        for arbiter in self.0.drain(..) {
            // A panic of an actor was logged when it happened.
            let _ = arbiter.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use actix::System;

    use super::*;

    #[test]
    fn parents_are_spread_over_the_threads_and_stay_on_theirs() {
        System::new().block_on(async {
            let (board, none) = (Board::new(), ArbiterPool::default());
            let arbiters = Arbiters::start(3, &board);
            let pool = arbiters.pool();
            let mut counts = HashMap::new();
            for number in 0..300 {
                let uid = Uid::new(&number.to_string());
                let at = pool.of(&uid).map(std::ptr::from_ref);
                assert_eq!(at, pool.of(&uid).map(std::ptr::from_ref));
                *counts.entry(at).or_insert(0) += 1;
                assert!(none.of(&uid).is_none(), "an empty pool has no thread");
            }
            assert!(counts.len() == 3 && counts.values().all(|count| *count > 50), "{counts:?}");
            let names: Vec<_> = board.beats(Instant::now()).into_iter().map(|it| it.name).collect();
            assert_eq!(names, ["reconcilers/0", "reconcilers/1", "reconcilers/2"]);
            drop(arbiters);
            assert!(pool.0.iter().all(|arbiter| !arbiter.alive()), "the threads have ended");
        });
    }
}
