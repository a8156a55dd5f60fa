//! Waiting for a state of the world.

use std::{fmt::Debug, future::Future, time::Duration};

use tokio::time::{Instant, timeout_at};

/// How long anything may take before a test gives up on it. The garbage collector of a real cluster
/// looks for new types every 30 seconds, and collects nothing for a CRD before.
const DEADLINE: Duration = Duration::from_mins(1);

/// Looks again and again until what it sees is right, and returns it.
///
/// # Panics
/// After a minute, with `what` was waited for and what was seen last; also where a look does not return.
pub async fn eventually<T: Debug, F: Future<Output = T>>(
    what: &str,
    look: impl Fn() -> F,
    is_right: impl Fn(&T) -> bool,
) -> T {
    let deadline = Instant::now() + DEADLINE;
    let mut last = None;
    loop {
        let looked = timeout_at(deadline, look()).await;
        assert!(looked.is_ok(), "never saw {what}: a look did not return; last: {last:#?}");
        let Ok(seen) = looked else { continue };
        if is_right(&seen) {
            return seen;
        }
        // A look that is at once done is never late.
        assert!(Instant::now() < deadline, "never saw {what}; last: {seen:#?}");
        last = Some(seen);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future};

    use super::*;

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "never saw the end: a look did not return; last: None")]
    async fn a_look_that_never_returns_is_given_up() {
        eventually("the end", future::pending::<u8>, |_| true).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "last: Some(\n    7,\n)")]
    async fn what_was_seen_before_is_told_when_a_later_look_hangs() {
        let looks = Cell::new(0);
        let look = async || {
            looks.set(looks.get() + 1);
            if looks.get() == 1 { 7 } else { future::pending().await }
        };
        eventually("the end", look, |_| false).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "never saw the end; last: 7")]
    async fn what_is_never_right_is_given_up() {
        eventually("the end", || future::ready(7), |_| false).await;
    }
}
