//! Waiting for a state of the world.

use std::{fmt::Debug, future::Future, time::Duration};

use tokio::time::Instant;

/// How long anything may take before a test gives up on it. The garbage collector of a real cluster
/// looks for new types every 30 seconds, and collects nothing for a CRD before.
const DEADLINE: Duration = Duration::from_mins(1);

/// Looks again and again until what it sees is right, and returns it.
///
/// # Panics
/// After a minute, with `what` was waited for and what was seen last.
pub async fn eventually<T: Debug, F: Future<Output = T>>(
    what: &str,
    look: impl Fn() -> F,
    is_right: impl Fn(&T) -> bool,
) -> T {
    let started = Instant::now();
    loop {
        let seen = look().await;
        if is_right(&seen) {
            return seen;
        }
        assert!(started.elapsed() < DEADLINE, "never saw {what}; last: {seen:#?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
