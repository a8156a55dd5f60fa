//! Notifies the supervisor when all that is to be watched was listed.
//!
//! What cannot be listed is not waited for where the operators wait for it by themselves, and where nothing is missing:
//!
//! | a scope | an earlier one answers for it | none does |
//! |---|---|---|
//! | was listed | settled | settled |
//! | its type is not served, so that it has no objects | settled | settled |
//! | is forbidden | awaited | settled |
//! | has failed for half a minute | awaited | settled |
//! | else | awaited | awaited |
//!
//! While an earlier scope answers, the operators go on: they would take what only the new one shows for missing.

use std::{
    mem,
    time::{Duration, Instant},
};

use actix::Context;
use tokio::sync::oneshot;

use super::{Reflector, ReflectorHandle, Scope, WatchCondition};
use crate::{
    actors::mailbox::{Receive, post},
    execute::now,
};

/// How long a scope fails before it is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The supervisor waits for the scopes of now.
pub(super) struct ListedAwaited {
    done: oneshot::Sender<()>,
}

impl ReflectorHandle {
    /// Is sent to when the scopes of now are settled.
    pub(crate) fn listed(&self) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        post(&self.reflector, &self.mailbox, ListedAwaited { done });
        is_done
    }
}

impl Reflector {
    /// Answers those who wait, if all scopes are settled.
    pub(super) fn report_listed(&mut self) {
        let now = now().monotonic;
        let mut scopes = self.scopes.iter().filter(|scope| !scope.is_leaving);
        if scopes.all(|scope| self.is_settled(scope, now)) {
            for done in mem::take(&mut self.awaiting) {
                // It may wait for something else by now.
                let _ = done.send(());
            }
        }
    }

    fn is_settled(&self, scope: &Scope, now: Instant) -> bool {
        let is_forbidden = scope.error.as_ref().is_some_and(|error| error.permission.is_some());
        let fails_for_long = scope.failures.since.is_some_and(|since| since + PATIENCE <= now);
        let do_operators_wait = || self.scopes.iter().all(|other| !other.is_leaving);
        self.is_listed(scope)
            || match scope.condition {
                WatchCondition::Synced => true,
                WatchCondition::Pending => false,
                WatchCondition::Refused(_) => !is_forbidden || do_operators_wait(),
                WatchCondition::Failing(_) => fails_for_long && do_operators_wait(),
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
