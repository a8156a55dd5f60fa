//! How a test ends: passed, failed, or ignored because it cannot run here.
//!
//! A test that cannot run unwinds with the reason, so that helpers need not return `Option`.

use std::{env, fmt::Display, panic::resume_unwind, thread, time::Instant};

use crate::{panics, times};

/// Why a test cannot run here.
struct Ignored(String);

/// Ends the calling test as ignored: this machine lacks something that the test needs.
pub fn ignore(reason: impl Display) -> ! {
    resume_unwind(Box::new(Ignored(reason.to_string())))
}

/// As [`ignore`], for something that can be installed.
///
/// # Panics
///
/// Where `CI` is set: there the test fails.
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn ignore_outside_ci(reason: impl Display) -> ! {
    match env::var_os("CI") {
        None => ignore(reason),
        Some(_) => panic!("with CI set the test must run: {reason}"),
    }
}

/// Runs a test on a thread of its name, which a panic prints; returns why it was ignored, if it was.
pub(crate) fn of(name: &str, test: fn()) -> Option<String> {
    let before = panics::beside();
    let run = move || {
        panics::of_a_test();
        test();
    };
    let begun = Instant::now();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    let ended = thread.expect("the system has a thread for the test").join();
    times::record(name, begun.elapsed());
    let payload = ended.err()?;
    match payload.downcast::<Ignored>() {
        Ok(ignored) => Some(ignored.0),
        Err(panic) => {
            panics::print_beside(name, before);
            resume_unwind(panic)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{panic::catch_unwind, time::Duration};

    use tokio::time::sleep;

    use super::*;

    #[test]
    fn a_test_that_returns_has_passed() {
        assert_eq!(of("passes", || ()), None);
    }

    #[test]
    fn a_test_that_cannot_run_is_ignored_with_its_reason() {
        let ended = of("cannot_run", || crate::block_on(async { ignore("no /proc") }));
        assert_eq!(ended.as_deref(), Some("no /proc"));
    }

    #[test]
    fn an_hour_passes_at_once_where_the_clock_is_paused() {
        let wait = || crate::block_on_paused(async { sleep(Duration::from_hours(1)).await });
        assert_eq!(of("waits", wait), None);
    }

    #[test]
    fn a_test_that_panics_has_failed() {
        let ended = catch_unwind(|| of("fails", || panic!("two is not three")));
        assert_eq!(*ended.unwrap_err().downcast::<&str>().unwrap(), "two is not three");
    }
}
