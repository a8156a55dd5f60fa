//! Fallback watches of single namespaces while the watch of all namespaces is forbidden. Operators of all
//! namespaces wait for the permission, operators of some namespaces do not.
//!
//! ```text
//!                     the watch of all is forbidden
//!               +------------------------------------+
//!               |                                    v
//!      all is watched,                       all is retried with a backoff,
//!      the fallbacks rest                    the fallbacks watch
//!               ^                                    |
//!               +------------------------------------+
//!                     the watch of all is open
//! ```

use std::ops::Range;

use actix::Context;
use tokio::task::AbortHandle;

use super::{Reflector, Scope, WatchCondition};
use crate::reply::{ApiError, ErrorClass};

impl Reflector {
    /// The scopes that are fallbacks of the first.
    pub(super) fn fallbacks(&self) -> Range<usize> {
        let is_of_all = self.scopes[0].spec.namespace.is_none();
        let staying = self.scopes.iter().position(|scope| scope.is_leaving);
        if is_of_all { 1..staying.unwrap_or(self.scopes.len()) } else { 0..0 }
    }

    pub(super) fn rests(&self, scope: usize) -> bool {
        self.fallbacks().contains(&scope) && self.scopes[scope].watching.is_none()
    }

    /// The scopes whose condition this one decides.
    pub(super) fn served_by(&self, scope: usize) -> Vec<usize> {
        let resting = self.fallbacks().filter(|other| scope == 0 && self.rests(*other));
        std::iter::once(scope).chain(resting).collect()
    }

    /// The scopes that fail with this one. After a refused permission the fallbacks may still be allowed.
    pub(super) fn concerned(&self, scope: usize, error: &ApiError) -> Vec<usize> {
        if error.class() == ErrorClass::Forbidden { vec![scope] } else { self.served_by(scope) }
    }

    /// Starts or ends the fallbacks after a note of the watch of all; returns whether it did.
    pub(super) fn switch_fallbacks(&mut self, ctx: &mut Context<Self>) -> bool {
        let Scope { condition, error, .. } = &self.scopes[0];
        let is_forbidden = error.as_ref().is_some_and(|error| error.permission.is_some());
        let is_good = *condition == WatchCondition::Synced;
        let is_due = |scope: &usize| if self.rests(*scope) { is_forbidden } else { is_good };
        let due: Vec<usize> = self.fallbacks().filter(is_due).collect();
        for scope in &due {
            if is_good { self.end_fallback(*scope, ctx) } else { self.use_fallback(*scope, ctx) }
        }
        !due.is_empty()
    }

    /// Marks a scope of the store as not watched.
    pub(super) fn rest(&self, scope: usize) {
        self.store.rest(self.scopes[scope].id);
    }

    /// The condition stays as it is until the first note of the new watch.
    fn use_fallback(&mut self, scope: usize, ctx: &Context<Self>) {
        tracing::warn!(watched = %self.watched(scope),
            "the watch of all namespaces is forbidden: watching this namespace instead");
        self.store.use_fallback(self.scopes[scope].id);
        self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
    }

    fn end_fallback(&mut self, scope: usize, ctx: &mut Context<Self>) {
        tracing::info!(watched = %self.watched(scope),
            "the watch of all namespaces is open: the watch of this namespace has ended");
        self.scopes[scope].watching.take().iter().for_each(AbortHandle::abort);
        self.rest(scope);
        // Its list may have begun a hold that was not noted before the watch ended.
        self.release_deletions_later(scope, ctx);
        (self.scopes[scope].failures, self.scopes[scope].error) = <_>::default();
        self.set_condition(scope, WatchCondition::Synced);
    }
}
