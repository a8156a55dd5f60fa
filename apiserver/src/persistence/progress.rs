//! How many changes are durable, for those that wait for them.

use std::sync::Arc;

use tokio::sync::watch;

/// How far the writer is. All clones are one.
#[derive(Debug, Clone)]
pub(super) struct Progress(watch::Sender<State>);

#[derive(Debug, Clone)]
enum State {
    Durable(u64),
    Failed(Arc<str>),
    Closed,
}

impl Progress {
    /// This many changes are durable.
    pub(super) fn advance(&self, changes: u64) {
        self.0.send_replace(State::Durable(changes));
    }

    /// No further change can become durable.
    pub(super) fn fail(&self, why: &str) {
        self.0.send_replace(State::Failed(why.into()));
    }

    /// Nothing is written any more.
    pub(super) fn close(&self) {
        self.0.send_replace(State::Closed);
    }

    /// Waits until this many changes are durable.
    pub(super) async fn reached(&self, changes: u64) -> Result<(), Arc<str>> {
        let is_decided = |state: &State| match state {
            State::Durable(durable) => *durable >= changes,
            State::Failed(_) | State::Closed => true,
        };
        match self.wait_for(is_decided).await {
            State::Durable(_) => Ok(()),
            State::Failed(why) => Err(why),
            State::Closed => Err("the server is closed".into()),
        }
    }

    /// Waits until nothing is written any more.
    pub(super) async fn ended(&self) {
        self.wait_for(|state| !matches!(state, State::Durable(_))).await;
    }

    /// Waits for a failure.
    pub(super) async fn failure(&self) -> Arc<str> {
        match self.wait_for(|state| matches!(state, State::Failed(_))).await {
            State::Failed(why) => why,
            State::Durable(_) | State::Closed => unreachable!("it was waited for a failure"),
        }
    }

    async fn wait_for(&self, wanted: impl FnMut(&State) -> bool) -> State {
        let mut states = self.0.subscribe();
        let state = states.wait_for(wanted).await;
        state.expect("the sender is here").clone()
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self(watch::Sender::new(State::Durable(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_learns_of_the_change_or_of_the_failure() {
        let progress = Progress::default();
        progress.reached(0).await.expect("nothing is awaited");
        progress.advance(3);
        progress.reached(3).await.expect("it is durable");
        let waiting = tokio::spawn({
            let progress = progress.clone();
            async move { progress.reached(4).await }
        });
        progress.fail("no space");
        assert_eq!(waiting.await.unwrap(), Err("no space".into()));
        assert_eq!(&*progress.failure().await, "no space");
        assert!(progress.reached(1).await.is_err(), "memory is ahead of the disk");
    }
}
