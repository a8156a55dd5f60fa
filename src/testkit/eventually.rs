//! Waits for a state of the cluster.

use std::{fmt::Debug, future::Future, time::Duration};

use tokio::time::{Instant, timeout_at};

/// How long a test waits. The garbage collector of a real cluster searches for new types every 30
/// seconds, and does not collect objects of a CRD before.
pub(super) const DEADLINE: Duration = Duration::from_mins(1);

/// Calls `look` repeatedly until its result is right, and returns that.
///
/// # Panics
/// After a minute, with `what` and the last result; also if `look` does not return.
pub async fn eventually<T: Debug, F: Future<Output = T>>(
    what: &str,
    look: impl Fn() -> F,
    is_right: impl Fn(&T) -> bool,
) -> T {
    let deadline = Instant::now() + DEADLINE;
    let mut last = None;
    loop {
        let result = timeout_at(deadline, look()).await;
        assert!(result.is_ok(), "never saw {what}: a look did not return; last: {last:#?}");
        let Ok(seen) = result else { continue };
        if is_right(&seen) {
            return seen;
        }
        // A future that is ready at once never times out.
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
    async fn the_last_result_is_reported_when_a_later_look_hangs() {
        let looks = Cell::new(0);
        let look = async || {
            looks.set(looks.get() + 1);
            if looks.get() == 1 { 7 } else { future::pending().await }
        };
        eventually("the end", look, |_| false).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "never saw the end; last: 7")]
    async fn a_result_that_is_never_right_is_given_up() {
        eventually("the end", || future::ready(7), |_| false).await;
    }
}
