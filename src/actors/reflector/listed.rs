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

use super::{
    Reflector, ReflectorHandle, Scope, WatchCondition,
    awaiting::{Awaited, Awaiting},
};
use crate::{
    actors::mailbox::{Receive, post},
    execute::now,
};

/// How long a scope fails before it is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it fails before that is said where it is waited for.
const LONG: Duration = Duration::from_mins(1);

/// The supervisor waits for the scopes of now.
pub(super) struct ListedAwaited(Awaiting);

impl ReflectorHandle {
    /// Waits for the scopes of now.
    pub(crate) fn listed(&self) -> Awaited {
        let ((done, listed), (failed, fails)) = (oneshot::channel(), oneshot::channel());
        let awaiting = Awaiting { listed: done, fails: Some(failed) };
        post(&self.reflector, &self.mailbox, ListedAwaited(awaiting));
        Awaited { listed, fails }
    }
}

impl Reflector {
    /// Answers those who wait, if all scopes are settled.
    pub(super) fn report_listed(&mut self) {
        let now = now().monotonic;
        let staying = self.scopes.iter().filter(|scope| !scope.is_leaving);
        let awaited: Vec<&Scope> = staying.filter(|scope| !self.is_settled(scope, now)).collect();
        // Nobody may wait for that by now.
        if awaited.is_empty() {
            for Awaiting { listed, .. } in mem::take(&mut self.awaiting) {
                let _ = listed.send(());
            }
        } else if awaited.iter().any(|scope| fails_for(LONG, scope, now)) {
            for fails in self.awaiting.iter_mut().filter_map(|it| it.fails.take()) {
                let _ = fails.send(());
            }
        }
    }

    fn is_settled(&self, scope: &Scope, now: Instant) -> bool {
        let is_forbidden = scope.error.as_ref().is_some_and(|error| error.permission.is_some());
        let do_operators_wait = || self.scopes.iter().all(|other| !other.is_leaving);
        self.is_listed(scope)
            || match scope.condition {
                WatchCondition::Synced => true,
                WatchCondition::Pending => false,
                WatchCondition::Refused(_) => !is_forbidden || do_operators_wait(),
                WatchCondition::Failing(_) => {
                    fails_for(PATIENCE, scope, now) && do_operators_wait()
                }
            }
    }
}

fn fails_for(time: Duration, scope: &Scope, now: Instant) -> bool {
    scope.failures.since.is_some_and(|since| since + time <= now)
}

impl Receive<ListedAwaited> for Reflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, ListedAwaited(awaiting): ListedAwaited, _: &mut Context<Self>) {
        self.awaiting.push(awaiting);
        self.report_listed();
    }
}
