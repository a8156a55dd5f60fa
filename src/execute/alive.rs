//! Notices when the last part of something is gone: an actor, its tasks, and what they hold.

use std::convert::Infallible;

use tokio::sync::mpsc;

/// Held by every part.
#[derive(Clone)]
pub(crate) struct Alive(mpsc::Sender<Infallible>);

/// Waits until all parts are gone.
pub(crate) struct Gone(mpsc::Receiver<Infallible>);

impl Alive {
    pub(crate) fn new() -> (Self, Gone) {
        let (parts, gone) = mpsc::channel(1);
        (Self(parts), Gone(gone))
    }

    /// Keeps the operator alive: a closure that calls this owns a part. Does nothing else.
    pub(crate) fn hold(&self) {
        let _ = &self.0;
    }
}

impl Gone {
    pub(crate) async fn wait(mut self) {
        // Nothing is ever sent.
        let _ = self.0.recv().await;
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn it_is_gone_with_its_last_part() {
        let (first, gone) = Alive::new();
        let second = first.clone();
        let mut gone = Box::pin(gone.wait());
        drop(first);
        assert!(gone.as_mut().now_or_never().is_none());
        drop(second);
        assert!(gone.now_or_never().is_some());
    }
}
