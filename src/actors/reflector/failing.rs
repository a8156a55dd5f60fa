//! Failures of the watches of a reflector, and the holds on deletions until they are in sync again.

use std::time::{Duration, SystemTime};

use actix::{AsyncContext, Context};

use super::{Reflector, Scope, WatchCondition};
use crate::{
    actors::{
        supervised::guarded,
        watching::{self, Failures, is_refused},
    },
    board::TypeError,
    execute::now,
    reply::{ApiError, ErrorClass},
    store::Settled,
};

/// Deletions are also held if the next retry is so far away.
pub(super) const LONG_DELAY: Duration = Duration::from_secs(15);

impl Reflector {
    pub(super) fn synced(&mut self, scope: usize, settled: Settled, ctx: &mut Context<Self>) {
        if settled == Settled::VersionRegressed {
            let seconds = self.reflecting.parts.cluster.settings().deletions_held.as_secs_f64();
            tracing::error!(ty = %self.ty(),
                "resource versions regressed: the API server was restored from a backup, or its answer \
                 is stale; deletions of this type are held for {seconds} s");
            self.state.version_regressed = Some(SystemTime::now());
        }
        self.release_deletions_later(scope, ctx);
        self.recovered(scope);
    }

    /// Starts the timer of a new hold. The store begins a hold with a list, but the list is only noted when
    /// its watch opens.
    pub(super) fn release_deletions_later(&mut self, scope: usize, ctx: &mut Context<Self>) {
        let hold = self.store.hold(self.scopes[scope].id);
        if let Some(hold) = hold.filter(|_| hold != self.scopes[scope].held) {
            ctx.run_later(
                self.reflecting.parts.cluster.settings().deletions_held,
                move |reflector, ctx| {
                    guarded(reflector, ctx, |reflector, _| {
                        reflector.store.release_deletions(hold);
                        reflector.show();
                    });
                },
            );
        }
        self.scopes[scope].held = hold;
    }

    pub(super) fn failed(&mut self, scope: usize, error: &ApiError, retry_in: Duration) {
        let type_error = self.type_error(scope, error);
        self.state.restarts += 1;
        let since = self.state.unreachable_since.unwrap_or_else(SystemTime::now);
        self.state.unreachable_since = error.is_unanswered().then_some(since);
        if error.class() == ErrorClass::NotServed {
            // When it is served again it may have another definition.
            self.state.secrets = None;
        }
        let Scope { failures, condition, error: shown, .. } = &mut self.scopes[scope];
        let (was_synced, now) = (*condition == WatchCondition::Synced, now().monotonic);
        failures.add(now);
        *shown = Some(type_error);
        let is_lasting = failures.are_lasting(error, was_synced, now);
        if is_lasting || failures.are_many() || retry_in >= LONG_DELAY {
            self.store.cut_off(self.scopes[scope].id, true);
        }
        if is_lasting {
            let why = watching::why(&self.watched(scope), error);
            let condition = if is_refused(error) {
                WatchCondition::Refused(why)
            } else {
                WatchCondition::Failing(why)
            };
            for scope in self.concerned(scope, error) {
                self.set_condition(scope, condition.clone());
            }
        }
    }

    fn type_error(&self, scope: usize, error: &ApiError) -> TypeError {
        let permission = || format!("get, list, watch on {}", self.watched(scope));
        let is_forbidden = error.class() == ErrorClass::Forbidden;
        TypeError { message: error.to_string(), permission: is_forbidden.then(permission) }
    }

    pub(super) fn recovered(&mut self, scope: usize) {
        self.scopes[scope].failures = Failures::default();
        self.scopes[scope].error = None;
        self.state.unreachable_since = None;
        self.store.cut_off(self.scopes[scope].id, false);
        if self.is_synced(scope) {
            for scope in self.served_by(scope) {
                self.set_condition(scope, WatchCondition::Synced);
            }
        }
    }
}
