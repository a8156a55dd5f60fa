//! Watches of one namespace each that stand in for the one of all, while that is forbidden: who
//! needs all namespaces has to wait for the permission, who needs only some does not.
//!
//! ```text
//!                     the watch of all is forbidden
//!               +------------------------------------+
//!               |                                    v
//!      all is watched,                       all is tried again and again,
//!      those that stand in rest              those that stand in watch
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
    /// The scopes that stand in for the first.
    pub(super) fn stand_ins(&self) -> Range<usize> {
        let is_of_all = self.parts.scopes[0].namespace.is_none();
        if is_of_all { 1..self.scopes.len() } else { 0..0 }
    }

    pub(super) fn rests(&self, scope: usize) -> bool {
        self.stand_ins().contains(&scope) && self.scopes[scope].watching.is_none()
    }

    /// The scopes that are told of by what this one tells.
    pub(super) fn served_by(&self, scope: usize) -> Vec<usize> {
        let resting = self.stand_ins().filter(|other| scope == 0 && self.rests(*other));
        std::iter::once(scope).chain(resting).collect()
    }

    /// The scopes that can do nothing either when this one fails: others may still be allowed.
    pub(super) fn concerned(&self, scope: usize, error: &ApiError) -> Vec<usize> {
        if error.class() == ErrorClass::Forbidden { vec![scope] } else { self.served_by(scope) }
    }

    /// After news of the watch of all; whether others begin to stand in for it, or end.
    pub(super) fn hand_over(&mut self, ctx: &mut Context<Self>) -> bool {
        let Scope { condition, error, .. } = &self.scopes[0];
        let is_forbidden = error.as_ref().is_some_and(|error| error.permission.is_some());
        let is_good = *condition == WatchCondition::Synced;
        let is_due = |scope: &usize| if self.rests(*scope) { is_forbidden } else { is_good };
        let due: Vec<usize> = self.stand_ins().filter(is_due).collect();
        for scope in &due {
            if is_good { self.end_fallback(*scope, ctx) } else { self.use_fallback(*scope, ctx) }
        }
        !due.is_empty()
    }

    /// Lets nothing feed a scope of the store.
    pub(super) fn rest(&self, scope: usize) {
        self.parts.store.rest(self.scopes[scope].id);
    }

    /// What it says of its condition holds until its own watch has something to say.
    fn use_fallback(&mut self, scope: usize, ctx: &Context<Self>) {
        tracing::warn!(watched = %self.watched(scope), "watched by itself: all may not be");
        self.parts.store.use_fallback(self.scopes[scope].id);
        self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
    }

    fn end_fallback(&mut self, scope: usize, ctx: &mut Context<Self>) {
        tracing::info!(watched = %self.watched(scope), "no more watched by itself: all is");
        self.scopes[scope].watching.take().iter().for_each(AbortHandle::abort);
        self.rest(scope);
        // Its list may have been taken in, and its end came before it was told of.
        self.release_deletions_later(scope, ctx);
        (self.scopes[scope].failures, self.scopes[scope].error) = (0, None);
        self.set_condition(scope, WatchCondition::Synced);
    }
}
