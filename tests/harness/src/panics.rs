//! The panics of a test program. A panic of a test is printed at once. A test may expect a panic of another thread, so
//! that is printed only when a test fails that ran meanwhile, and in one line: of a long output often only
//! the end is kept.

use std::{
    cell::Cell,
    panic,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

/// How many panics of other threads are printed for a failed test: the last ones.
const SHOWN: usize = 10;

/// How many characters of one of them are printed.
const LONGEST: usize = 2000;

/// The same of the panic of a test, which ends the run: the list of failures has the whole.
const LONGEST_AT_THE_END: usize = 400;

thread_local! {
    static IS_OF_A_TEST: Cell<bool> = const { Cell::new(false) };
}

static SEEN: Mutex<Seen> = Mutex::new(Seen { beside: Vec::new(), failed: Vec::new() });

/// The panics so far, oldest first: thread, place and message.
struct Seen {
    beside: Vec<String>,
    /// Those of tests.
    failed: Vec<String>,
}

/// From now on panics are recorded; those of threads that run no test are printed at once only if
/// `all_at_once`.
pub(crate) fn record(all_at_once: bool) {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let thread = thread::current();
        let text = format!("{} {panic}", thread.name().unwrap_or("a thread"));
        if IS_OF_A_TEST.get() {
            seen().failed.push(text);
            print(panic);
        } else {
            seen().beside.push(text);
            if all_at_once {
                print(panic);
            }
        }
    }));
}

/// Marks the calling thread as that of a test.
pub(crate) fn of_a_test() {
    IS_OF_A_TEST.set(true);
}

/// How many panics of other threads there were so far.
pub(crate) fn beside() -> usize {
    seen().beside.len()
}

/// Prints the panics of other threads since a failed test began.
pub(crate) fn print_beside(test: &str, before: usize) {
    let seen = seen();
    let meanwhile = &seen.beside[before..];
    let hidden = meanwhile.len().saturating_sub(SHOWN);
    if hidden > 0 {
        eprintln!("beside {test}: {hidden} earlier panics of other threads");
    }
    for panic in &meanwhile[hidden..] {
        eprintln!("beside {test}: {}", one_line(panic, LONGEST));
    }
}

/// Prints the panics of tests, as the last lines of a failed run.
pub(crate) fn print_failed() {
    for panic in &seen().failed {
        eprintln!("FAILED {}", one_line(panic, LONGEST_AT_THE_END));
    }
}

fn seen() -> MutexGuard<'static, Seen> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The beginning of a text, in one line.
fn one_line(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_printed_in_one_line_of_limited_length() {
        let panic = "a::test panicked at src/x.rs:1:2:\nassertion failed\n  left: 1\n right: 2";
        let line = "a::test panicked at src/x.rs:1:2: assertion failed left: 1 right: 2";
        assert_eq!(one_line(panic, 100), line);
        assert_eq!(one_line(panic, line.len()), line);
        assert_eq!(one_line("äöü is too long", 3), "äöü...");
    }
}
