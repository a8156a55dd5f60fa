//! SIGINT and SIGTERM, on a thread of their own: whatever the other threads do, the process notices them.
//!
//! ```text
//! SIGINT, SIGTERM --> stop --> the supervisor ends
//!                       |
//!                       '--> 4.5 s, or another signal --> abandoned: nobody waits any longer
//! ```

use std::{io, thread, time::Duration};

use tokio::{
    runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time::timeout,
};

use super::ending::ABANDONED;

/// What the signals say.
pub(super) struct Signals {
    /// Ends at the first.
    pub(super) stop: oneshot::Receiver<()>,
    /// Ends when nobody waits any longer, with the reason.
    pub(super) abandoned: oneshot::Receiver<Abandoned>,
}

/// Why nobody waits any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abandoned {
    /// It took too long.
    Late,
    /// There was another signal.
    Signalled,
}

/// Signals stop the process from now on, until the returned value is dropped.
pub(super) fn listen() -> io::Result<Signals> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    drop(entered);
    let (stopping, stop) = oneshot::channel();
    let (abandoning, abandoned) = oneshot::channel();
    let watching = async move { watch(stopping, abandoning, &mut interrupt, &mut terminate).await };
    let thread = thread::Builder::new().name("operetta-signals".to_owned());
    thread.spawn(move || runtime.block_on(watching))?;
    Ok(Signals { stop, abandoned })
}

async fn watch(
    mut stopping: oneshot::Sender<()>,
    mut abandoning: oneshot::Sender<Abandoned>,
    interrupt: &mut Signal,
    terminate: &mut Signal,
) {
    tokio::select! {
        () = either(interrupt, terminate) => {}
        // The supervisor has ended by itself.
        () = stopping.closed() => return,
    }
    let _ = stopping.send(());
    let why = tokio::select! {
        why = patience(ABANDONED, either(interrupt, terminate)) => why,
        () = abandoning.closed() => return,
    };
    let _ = abandoning.send(why);
}

async fn patience(after: Duration, signalled: impl Future<Output = ()>) -> Abandoned {
    match timeout(after, signalled).await {
        Ok(()) => Abandoned::Signalled,
        Err(_) => Abandoned::Late,
    }
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_five_seconds_or_after_another_signal() {
        let begun = Instant::now();
        assert_eq!(patience(ABANDONED, ready(())).await, Abandoned::Signalled);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert_eq!(patience(ABANDONED, pending()).await, Abandoned::Late);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
