//! Runs tests as libtest does, and lets a test report at run time that it cannot run here: it is then
//! *ignored* with the reason, and does not count as passed.
//!
//! A test program sets `harness = false`, calls [`main`], and marks its tests with [`test`](macro@test);
//! `#[ignore = ".."]` works as usual, and its reason is printed. A test calls [`ignore`] or
//! [`ignore_outside_ci`] on its own thread, not in a spawned task. Output is not captured, but panics of other
//! threads are printed, in short, only beside a test that fails, or whole with `--nocapture`. The last lines of
//! a failed run are what failed.
//!
//! ```no_run
//! #[operetta_harness::test]
//! async fn a_file_is_read() {
//!     let file = std::fs::read("/proc/version");
//!     let file = file.unwrap_or_else(|_| operetta_harness::ignore("no /proc on this system"));
//!     assert!(file.starts_with(b"Linux"));
//! }
//!
//! #[operetta_harness::test(server, paused)]
//! async fn an_hour_passes_at_once() {
//!     tokio::time::sleep(std::time::Duration::from_hours(1)).await;
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     operetta_harness::main()
//! }
//! ```
//!
//! Environment variables:
//!
//! - `OPERETTA_TEST_MARK=server`: only tests with this [`Mark`] run.
//! - `RUST_TEST_THREADS=2`: so many tests run at once, not three for each core.
//! - `OPERETTA_RANDOM_TEXTS=100000`: so many random texts go to each parser, not 5,000.
//! - `OPERETTA_TEST_TIMES=20`: prints the 20 slowest tests after the run, and the seconds of all together.

mod folder;
mod logs;
mod mark;
mod outcome;
mod panics;
pub mod random;
mod settings;
mod times;

use std::process::ExitCode;
use std::thread::available_parallelism;

use libtest_mimic::{Arguments, Completion, Trial};
use tokio::runtime::Builder;

pub use folder::{Folder, replace};
#[doc(hidden)]
pub use inventory;
pub use logs::{LogsAlone, logs_alone};
pub use mark::Mark;
pub use operetta_harness_macros::test;
pub use outcome::{ignore, ignore_outside_ci};
use settings::Settings;

/// A registered test.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// With the path of its module, which begins with the name of the program.
    pub path: &'static str,
    pub marks: &'static [Mark],
    /// Why it runs only when ignored tests are requested; empty where no reason is given.
    pub ignored: Option<&'static str>,
    pub run: fn(),
}

inventory::collect!(Test);

/// Runs the tests that the command line and the environment select.
pub fn main() -> ExitCode {
    match Settings::from_environment() {
        Ok(settings) => run(&settings),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(settings: &Settings) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or_else(threads);
    panics::record(arguments.nocapture);
    let selected = inventory::iter::<Test>().filter(|test| settings.select(test.marks));
    let mut tests: Vec<Trial> = selected.map(|test| trial(test, &arguments)).collect();
    tests.sort_by(|a, b| a.name().cmp(b.name()));
    let conclusion = libtest_mimic::run(&arguments, tests);
    times::print(settings.slowest);
    if conclusion.has_failed() {
        panics::print_failed();
    }
    conclusion.exit_code()
}

/// Three for each core, unless the environment says how many: most tests wait more than they compute.
fn threads() -> Option<usize> {
    let asked = std::env::var("RUST_TEST_THREADS").ok().and_then(|it| it.parse().ok());
    asked.or_else(|| Some(3 * available_parallelism().ok()?.get()))
}

fn trial(test: &'static Test, arguments: &Arguments) -> Trial {
    let (_, name) = test.path.split_once("::").expect("a path begins with the name of the program");
    let selects_ignored = arguments.ignored || arguments.include_ignored || arguments.list;
    match test.ignored {
        // `libtest_mimic` prints the reason only of a test that is ignored while it runs.
        Some(reason) if !reason.is_empty() && !selects_ignored => {
            Trial::ignorable_test(name, move || Ok(Completion::ignored_with(reason)))
        }
        ignored => Trial::ignorable_test(name, || Ok(completion(name, test.run)))
            .with_ignored_flag(ignored.is_some()),
    }
}

fn completion(name: &str, test: fn()) -> Completion {
    outcome::of(name, test).map_or(Completion::Completed, Completion::ignored_with)
}

/// Waits for an asynchronous test on its own runtime.
#[doc(hidden)]
pub fn block_on(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.expect("the system has threads for the test").block_on(test);
}

/// The same on one thread, with a clock that moves only while every task waits for it.
#[doc(hidden)]
pub fn block_on_paused(test: impl Future<Output = ()>) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("the system has a runtime for the test").block_on(test);
}

/// The expansion of [`test`](macro@test).
#[doc(hidden)]
#[macro_export]
macro_rules! register {
    ($name:ident, [$($mark:ident),*], $ignored:expr, $run:expr) => {
        $crate::inventory::submit! {
            $crate::Test {
                path: concat!(module_path!(), "::", stringify!($name)),
                marks: &[$($crate::Mark::$mark),*],
                ignored: $ignored,
                run: $run,
            }
        }
    };
}
