//! Work that takes long on a thread that serves connections: other threads take over what else the thread has to do.
//!
//! In process it is simply done: the runtime of the caller may have one thread only.

use std::cell::Cell;

thread_local! {
    static SERVES_CONNECTIONS: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread belongs to a runtime of several threads that serves connections.
pub(crate) fn serve_connections() {
    SERVES_CONNECTIONS.set(true);
}

/// The size of bodies and objects from which work on one takes long.
pub(crate) const LONG: usize = 16 * 1024;

/// Does something with a body or an object of this size.
pub(crate) fn sized<T>(size: usize, work: impl FnOnce() -> T) -> T {
    if size > LONG { aside(work) } else { work() }
}

/// Does what may take longer than a few milliseconds.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    if !SERVES_CONNECTIONS.get() {
        return work();
    }
    #[cfg(test)]
    let work = || watchdog::excluded(work);
    tokio::task::block_in_place(work)
}

/// Measures how long the threads that serve connections do nothing else.
#[cfg(test)]
pub(crate) mod watchdog {
    use std::{
        cell::Cell,
        fs,
        pin::Pin,
        sync::atomic::{AtomicU64, Ordering},
        task::{Context, Poll},
        time::Duration,
    };

    /// The longest time in nanoseconds.
    static LONGEST: AtomicU64 = AtomicU64::new(0);

    thread_local! {
        static EXCLUDED: Cell<u64> = const { Cell::new(0) };
    }

    /// A future whose turns are measured, by the time of the thread on a processor: that of others does not count.
    pub(crate) struct Watched<F>(pub(crate) Pin<Box<F>>);

    impl<F: Future> Future for Watched<F> {
        type Output = F::Output;

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            let begun = time_of_thread();
            EXCLUDED.set(0);
            let polled = self.0.as_mut().poll(cx);
            let taken = (time_of_thread() - begun).saturating_sub(EXCLUDED.get());
            LONGEST.fetch_max(taken, Ordering::Relaxed);
            polled
        }
    }

    /// The longest turn so far.
    pub(crate) fn longest() -> Duration {
        Duration::from_nanos(LONGEST.load(Ordering::Relaxed))
    }

    pub(super) fn excluded<T>(work: impl FnOnce() -> T) -> T {
        let begun = time_of_thread();
        let done = work();
        EXCLUDED.set(EXCLUDED.get() + time_of_thread() - begun);
        done
    }

    fn time_of_thread() -> u64 {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default()
    }
}
