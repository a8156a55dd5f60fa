//! The output of panics. A panic of a test is printed at once. A test may expect a panic of another thread, so
//! that is kept until a test has failed.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    panic::{self, PanicHookInfo},
    sync::{Mutex, PoisonError},
    thread,
};

thread_local! {
    static IS_OF_A_TEST: Cell<bool> = const { Cell::new(false) };
}

static KEPT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on panics of threads that run no test are kept.
pub(crate) fn keep_those_beside_tests() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(
        move |panic| {
            if IS_OF_A_TEST.get() { print(panic) } else { keep(panic) }
        },
    ));
}

/// Marks the calling thread as that of a test.
pub(crate) fn of_a_test() {
    IS_OF_A_TEST.set(true);
}

pub(crate) fn print_kept() {
    for panic in KEPT.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        eprintln!("\nbeside the tests: {panic}");
    }
}

fn keep(panic: &PanicHookInfo<'_>) {
    let (thread, trace) = (thread::current(), Backtrace::capture());
    let text = format!("thread {:?} {panic}\n{trace}", thread.name().unwrap_or_default());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}
