//! What is printed of panics. That of a test is, at once; one on another thread may be just what a test is
//! about, and is kept until a test has failed. It does not decide what failed.

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

/// From now on panics of other threads than those of tests are kept.
pub(crate) fn keep_those_beside_tests() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(
        move |panic| {
            if IS_OF_A_TEST.get() { print(panic) } else { keep(panic) }
        },
    ));
}

/// Says that the calling thread is that of a test.
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
