//! A supervisor that runs.

use std::{net::SocketAddr, thread::JoinHandle};

use tokio::sync::{oneshot, watch};

use super::RunError;
use crate::{board::Board, metrics::Metrics, web::Stores};

/// The process is ready: every operator runs, or is degraded with a stated reason.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where the web endpoint listens, if it does.
    pub web: Option<SocketAddr>,
    /// What is missing and why, a line each that begins with the operator's name; empty when every
    /// operator runs.
    pub degraded: Vec<String>,
}

/// What ends a supervisor.
#[derive(Debug)]
pub(super) enum StopSignal {
    /// SIGINT or SIGTERM.
    Process,
    /// [`Running::stop`], or the end of the handle.
    Handle(oneshot::Receiver<()>),
}

/// What a started supervisor can be asked.
#[derive(Debug, Clone)]
pub(super) struct Handles {
    pub(super) board: Board,
    pub(super) metrics: Metrics,
    pub(super) ready: watch::Receiver<bool>,
}

/// A supervisor on a thread of its own. Dropping it stops it without waiting.
#[derive(Debug)]
#[must_use = "dropping it stops the supervisor"]
pub struct Running {
    handles: Handles,
    web: Option<SocketAddr>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), RunError>>,
}

impl Running {
    pub(super) fn new(
        handles: Handles,
        web: Option<SocketAddr>,
        stop: oneshot::Sender<()>,
        thread: JoinHandle<Result<(), RunError>>,
    ) -> Self {
        Self { handles, web, stop, thread }
    }

    /// Where the web endpoint listens, if it does.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web
    }

    /// What the web endpoint shows.
    pub fn board(&self) -> &Board {
        &self.handles.board
    }

    /// What the operators cache.
    pub fn stores(&self) -> Stores {
        Stores::new(&self.handles.board)
    }

    /// What is measured.
    pub fn metrics(&self) -> &Metrics {
        &self.handles.metrics
    }

    /// Whether it has not ended: by itself, or by a signal to the process.
    pub fn is_active(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Returns once every operator runs, or is degraded with a stated reason; also when the supervisor has
    /// ended by itself, of which [`stop`](Self::stop) tells why.
    pub async fn ready(&self) {
        // An error means that the supervisor has ended, which `stop` will tell.
        let _ = self.handles.ready.clone().wait_for(|ready| *ready).await;
    }

    /// Finishes what is in flight (at most 4 seconds) and ends. Blocks the calling thread.
    ///
    /// # Errors
    /// What ended the supervisor before it was asked to.
    pub fn stop(self) -> Result<(), RunError> {
        // It may have ended by itself already.
        let _ = self.stop.send(());
        self.thread.join().map_err(|_| RunError::Died)?
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn it_is_active_until_its_thread_has_ended() {
        let (_, ready) = watch::channel(true);
        let handles = Handles { board: Board::new(), metrics: Metrics::new(), ready };
        let (stop, stopped) = oneshot::channel();
        let (go_on, waits) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            drop(waits.blocking_recv());
            drop(stopped);
            Err(RunError::Died)
        });
        let running = Running::new(handles, None, stop, thread);
        assert!(running.is_active());
        go_on.send(()).unwrap();
        while running.is_active() {
            thread::yield_now();
        }
        assert!(matches!(running.stop(), Err(RunError::Died)));
    }
}
