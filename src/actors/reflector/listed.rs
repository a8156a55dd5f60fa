//! Notifies the supervisor when all that is to be watched was listed, or why it cannot be is known.

use std::mem;

use actix::Context;
use tokio::sync::oneshot;

use super::{Reflector, ReflectorHandle, WatchCondition};
use crate::actors::mailbox::{Receive, post};

/// The supervisor waits for the scopes of now.
pub(super) struct ListedAwaited {
    done: oneshot::Sender<()>,
}

impl ReflectorHandle {
    /// Is sent to when the scopes of now were listed. A scope that fails is not waited for.
    pub(crate) fn listed(&self) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        post(&self.reflector, &self.mailbox, ListedAwaited { done });
        is_done
    }
}

impl Reflector {
    /// Answers those who wait, if all scopes are listed.
    pub(super) fn report_listed(&mut self) {
        let mut scopes = self.scopes.iter().filter(|scope| !scope.is_leaving);
        if scopes.all(|scope| scope.condition != WatchCondition::Pending) {
            for done in mem::take(&mut self.awaiting) {
                // It may wait for something else by now.
                let _ = done.send(());
            }
        }
    }
}

impl Receive<ListedAwaited> for Reflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, ListedAwaited { done }: ListedAwaited, _: &mut Context<Self>) {
        self.awaiting.push(done);
        self.report_listed();
    }
}
