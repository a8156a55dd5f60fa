//! Runs a supervisor on one thread, so that a test can move its clock.
//!
//! Time passes as usual, except for the jumps.

use std::time::Duration;

use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot},
    time,
};

use super::RunError;

/// The clock jumps forward.
#[derive(Debug)]
pub(crate) struct Jump {
    pub(crate) by: Duration,
    /// Receives when it has.
    pub(crate) done: oneshot::Sender<()>,
}

pub(crate) type Jumps = mpsc::UnboundedReceiver<Jump>;

/// Runs until the supervisor ends. Actors, requests and handlers share the thread, whose clock is that of
/// their timers.
pub(super) fn run(
    jumps: Jumps,
    live: impl AsyncFnOnce() -> Result<(), RunError>,
) -> Result<(), RunError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = std::sync::Mutex::new(Some(runtime?));
    let taken = move || runtime.lock().ok().and_then(|mut it| it.take()).expect("it is taken once");
    actix::System::with_tokio_rt(taken).block_on(async {
        actix::spawn(follow(jumps));
        live().await
    })
}

async fn follow(mut jumps: Jumps) {
    while let Some(Jump { by, done }) = jumps.recv().await {
        time::pause();
        time::advance(by).await;
        time::resume();
        // The test may have ended.
        let _ = done.send(());
    }
}
