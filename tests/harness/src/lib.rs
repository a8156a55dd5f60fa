//! Runs tests as libtest does, and lets a test report at run time that it cannot run here: it is then
//! *ignored* with the reason, and does not count as passed.
//!
//! A test program sets `harness = false`, calls [`main`], and marks its tests with [`test`](macro@test);
//! `#[ignore = ".."]` works as usual. A test calls [`ignore`] or [`ignore_outside_ci`] on its own
//! thread, not in a spawned task. Output is not captured, but panics of other threads are printed, in short,
//! only beside a test that fails, or whole with `--nocapture`. The last lines of a failed run are what failed.
//!
//! ```no_run
//! #[operetta_harness::test]
//! async fn a_file_is_read() {
//!     let file = std::fs::read("/proc/version");
//!     let file = file.unwrap_or_else(|_| operetta_harness::ignore("no /proc on this system"));
//!     assert!(file.starts_with(b"Linux"));
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     operetta_harness::main()
//! }
//! ```

mod outcome;
mod panics;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};

#[doc(hidden)]
pub use inventory;
pub use operetta_harness_macros::test;
pub use outcome::{ignore, ignore_outside_ci};

/// A registered test.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// With the path of its module, which begins with the name of the program.
    pub path: &'static str,
    pub is_ignored: bool,
    pub run: fn(),
}

inventory::collect!(Test);

/// Runs the tests that the command line selects.
pub fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok().and_then(|it| it.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    panics::record(arguments.nocapture);
    let mut tests: Vec<Trial> = inventory::iter::<Test>().map(trial).collect();
    tests.sort_by(|a, b| a.name().cmp(b.name()));
    let conclusion = libtest_mimic::run(&arguments, tests);
    if conclusion.has_failed() {
        panics::print_failed();
    }
    conclusion.exit_code()
}

fn trial(test: &'static Test) -> Trial {
    let (_, name) = test.path.split_once("::").expect("a path begins with the name of the program");
    let run =
        || Ok(outcome::of(name, test.run).map_or(Completion::Completed, Completion::ignored_with));
    Trial::ignorable_test(name, run).with_ignored_flag(test.is_ignored)
}

/// Waits for an asynchronous test on its own runtime.
#[doc(hidden)]
pub fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("the system has threads for the test").block_on(test);
}

/// The expansion of [`test`](macro@test).
#[doc(hidden)]
#[macro_export]
macro_rules! register {
    ($name:ident, $is_ignored:literal, async) => {
        $crate::register!(@ $name, $is_ignored, || $crate::block_on($name()));
    };
    ($name:ident, $is_ignored:literal, ) => {
        $crate::register!(@ $name, $is_ignored, $name);
    };
    (@ $name:ident, $is_ignored:literal, $run:expr) => {
        $crate::inventory::submit! {
            $crate::Test {
                path: concat!(module_path!(), "::", stringify!($name)),
                is_ignored: $is_ignored,
                run: $run,
            }
        }
    };
}
