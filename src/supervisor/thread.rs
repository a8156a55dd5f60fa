//! The thread of a supervisor. Who waits for it awaits a channel, so that no runtime of the caller is
//! blocked, and no runtime is needed.

use std::{io, thread};

use tokio::sync::{oneshot, watch};

use super::{
    RunError,
    signals::{Abandoned, Signals},
};

type Outcome = Result<(), RunError>;

/// The supervisor's ends of the channels between it and its [`Thread`].
pub(super) struct Lifeline<H> {
    /// Receives what the caller gets once everything has started.
    pub(super) started: oneshot::Sender<H>,
    /// Becomes true when the process is ready.
    pub(super) ready: watch::Sender<bool>,
    /// Ends when the supervisor shall stop, because the caller says so or has dropped its [`Thread`].
    pub(super) stop: oneshot::Receiver<()>,
}

/// A supervisor on a thread of its own. Dropping it stops the supervisor without waiting.
#[derive(Debug)]
pub(super) struct Thread {
    stop: oneshot::Sender<()>,
    /// Closed when the supervisor has ended.
    ready: watch::Receiver<bool>,
    outcome: oneshot::Receiver<Outcome>,
}

impl Thread {
    /// Starts the thread. The receiver fails when the supervisor ends before everything has started.
    pub(super) fn spawn<H: Send + 'static>(
        life: impl FnOnce(Lifeline<H>) -> Outcome + Send + 'static,
    ) -> io::Result<(Self, oneshot::Receiver<H>)> {
        let (started, was_started) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = watch::channel(false);
        let (end, outcome) = oneshot::channel();
        thread::Builder::new().name("operetta".to_owned()).spawn(move || {
            let is_alive = ready.clone();
            // Nobody receives it when the handle was dropped.
            let _ = end.send(life(Lifeline { started, ready, stop: stopped }));
            drop(is_alive);
        })?;
        Ok((Self { stop, ready: is_ready, outcome }, was_started))
    }

    pub(super) fn is_active(&self) -> bool {
        self.ready.has_changed().is_ok()
    }

    /// Ends when the process is ready, or when the supervisor has ended.
    pub(super) async fn ready(&self) {
        // An error means that it has ended.
        let _ = self.ready.clone().wait_for(|ready| *ready).await;
    }

    /// Ends when the supervisor has ended.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        let mut ready = self.ready.clone();
        async move { while ready.changed().await.is_ok() {} }
    }

    /// Waits for the end, which signals cause. It does not wait for a supervisor that does not end.
    pub(super) async fn until_signalled(self, signals: Signals) -> Outcome {
        let Signals { stop, abandoned } = signals;
        let Self { stop: stopping, mut outcome, .. } = self;
        tokio::select! {
            outcome = &mut outcome => return outcome.unwrap_or(Err(RunError::Died)),
            // Without its thread signals are not noticed.
            Ok(()) = stop => {}
        }
        // It may have ended already.
        let _ = stopping.send(());
        tokio::select! {
            biased;
            outcome = outcome => outcome.unwrap_or(Err(RunError::Died)),
            Ok(why) = abandoned => match why {
                Abandoned::Signalled => Err(RunError::Abandoned),
                // As handlers that do not end.
                Abandoned::Late => {
                    tracing::warn!("the operators did not end in time: they are abandoned");
                    Ok(())
                }
            },
        }
    }

    /// Waits for the end.
    pub(super) async fn outcome(self) -> Outcome {
        // `self.stop` is dropped after this, since its end would stop the supervisor.
        self.outcome.await.unwrap_or(Err(RunError::Died))
    }

    /// Stops the supervisor and waits for its end.
    pub(super) async fn stop(self) -> Outcome {
        // It may have ended already.
        let _ = self.stop.send(());
        self.outcome.await.unwrap_or(Err(RunError::Died))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, executor::block_on};

    use super::*;

    /// A thread that ends with this when it is stopped.
    fn until_stopped(outcome: Outcome) -> Thread {
        let life = |Lifeline { stop, .. }: Lifeline<()>| {
            let _ = block_on(stop);
            outcome
        };
        Thread::spawn(life).unwrap().0
    }

    #[test]
    fn it_is_active_until_it_has_ended_and_stopping_it_returns_its_error() {
        let thread = until_stopped(Err(RunError::NoOperators));
        let ended = thread.ended();
        assert!(thread.is_active() && thread.ended().now_or_never().is_none());
        assert!(matches!(block_on(thread.stop()), Err(RunError::NoOperators)));
        block_on(ended);
    }

    #[test]
    fn the_end_by_an_error_is_noticed_and_the_error_is_kept() {
        let (thread, started) =
            Thread::spawn(|_: Lifeline<()>| Err(RunError::NoOperators)).unwrap();
        block_on(thread.ended());
        block_on(thread.ready());
        assert!(!thread.is_active() && block_on(started).is_err());
        assert!(matches!(block_on(thread.stop()), Err(RunError::NoOperators)));
    }

    #[test]
    fn the_end_by_a_panic_is_an_error() {
        let (thread, _) = Thread::spawn(|_: Lifeline<()>| panic!("a bug")).unwrap();
        block_on(thread.ended());
        assert!(matches!(block_on(thread.outcome()), Err(RunError::Died)));
    }

    #[test]
    fn dropping_it_ends_the_supervisor() {
        let thread = until_stopped(Ok(()));
        let ended = thread.ended();
        drop(thread);
        block_on(ended);
    }

    #[test]
    fn waiting_for_the_end_does_not_stop_it() {
        let thread = until_stopped(Ok(()));
        let ended = thread.ended();
        let mut outcome = Box::pin(thread.outcome());
        assert!(outcome.as_mut().now_or_never().is_none());
        assert!(ended.now_or_never().is_none());
    }

    /// A thread that never ends, and the channels to those that wait for it.
    fn endless() -> (Thread, Signals, oneshot::Sender<()>, oneshot::Sender<Abandoned>) {
        let life = |_: Lifeline<()>| loop {
            thread::park();
        };
        let (stopping, stop) = oneshot::channel();
        let (abandoning, abandoned) = oneshot::channel();
        (Thread::spawn(life).unwrap().0, Signals { stop, abandoned }, stopping, abandoning)
    }

    #[test]
    fn a_supervisor_that_does_not_end_is_abandoned() {
        for why in [Abandoned::Late, Abandoned::Signalled] {
            let (thread, signals, stopping, abandoning) = endless();
            let mut waiting = Box::pin(thread.until_signalled(signals));
            assert!(waiting.as_mut().now_or_never().is_none());
            stopping.send(()).unwrap();
            assert!(waiting.as_mut().now_or_never().is_none(), "it may end by itself");
            abandoning.send(why).unwrap();
            match (block_on(waiting), why) {
                (Ok(()), Abandoned::Late) | (Err(RunError::Abandoned), Abandoned::Signalled) => {}
                (ended, _) => panic!("{why:?}: {ended:?}"),
            }
        }
    }

    #[test]
    fn a_signal_ends_a_supervisor() {
        let (_, signals, stopping, _abandoning) = endless();
        let waiting = until_stopped(Ok(())).until_signalled(signals);
        stopping.send(()).unwrap();
        block_on(waiting).unwrap();
    }
}
