//! Changes of the scopes of a running reflector.
//!
//! A scope that is replaced watches until the store has the first list of its successor, so that no operator
//! notices. Until then it decides the condition for the operators that were there before.
//!
//! ```text
//! Rescoped: the new scope lists   --its first list-->   the earlier scope ends
//! operators before:   earlier scope                     new scope
//! operators since:    new scope                         new scope
//! ```

use std::mem;

use actix::Context;
use tokio::task::AbortHandle;

use super::{Reflector, ReflectorHandle, Scope, WatchCondition};
use crate::{
    actors::{
        BacklogRecipient,
        mailbox::{Receive, post},
        messages::{Observed, WatchChanged},
    },
    cluster::WatchSpec,
};

/// Other scopes are needed.
pub(super) struct Rescoped {
    pub(super) scopes: Vec<WatchSpec>,
    /// Whether remaining scopes are listed again, because more is kept of the objects.
    pub(super) is_afresh: bool,
}

impl ReflectorHandle {
    /// The recipient of the changes by replies and live reads.
    pub(crate) fn published(&self) -> BacklogRecipient<Observed> {
        BacklogRecipient::new(&self.reflector, &self.mailbox)
    }

    /// Replaces the scopes. Those that remain are not touched, unless they are to be listed afresh.
    pub(crate) fn rescope(&self, scopes: Vec<WatchSpec>, is_afresh: bool) {
        post(&self.reflector, &self.mailbox, Rescoped { scopes, is_afresh });
    }
}

impl Reflector {
    pub(super) fn set_condition(&mut self, scope: usize, condition: WatchCondition) {
        if self.scopes[scope].condition == condition {
            return;
        }
        self.scopes[scope].condition = condition.clone();
        let changed = WatchChanged { watched: self.watched(scope), condition };
        for observer in self.reflecting.observers.iter() {
            if self.decides(scope, observer.since()) {
                observer.post(changed.clone());
            }
        }
    }

    /// Whether a scope decides the condition for an operator: among those of its namespace it is the newest that the
    /// operator found when it joined, or the oldest if there was none.
    pub(super) fn decides(&self, scope: usize, since: u64) -> bool {
        if !self.scopes.last().is_some_and(|last| last.is_leaving) {
            return true;
        }
        let namespace = &self.scopes[scope].spec.namespace;
        let alike = || self.scopes.iter().filter(|other| other.spec.namespace == *namespace);
        let found = alike().filter(|it| it.since <= since).max_by_key(|it| it.since);
        let decisive = found.or_else(|| alike().min_by_key(|it| it.since));
        decisive.is_some_and(|it| it.id == self.scopes[scope].id)
    }

    fn rescope(&mut self, rescoped: Rescoped, ctx: &mut Context<Self>) {
        let Rescoped { scopes: specs, is_afresh } = rescoped;
        self.generation += 1;
        let is_kept =
            |scope: &Scope| !is_afresh && !scope.is_leaving && specs.contains(&scope.spec);
        let (mut kept, mut earlier): (Vec<Scope>, Vec<Scope>) =
            mem::take(&mut self.scopes).into_iter().partition(is_kept);
        for spec in specs {
            let known = kept.extract_if(.., |scope| scope.spec == spec).next();
            let scope = known.unwrap_or_else(|| self.successor(spec, &earlier));
            self.scopes.push(scope);
        }
        for scope in &mut earlier {
            let is_covered = self.scopes.iter().any(|new| covers(&new.spec, &scope.spec));
            let is_handed_over = !self.is_listed(scope) && self.has_successor(scope);
            scope.is_leaving = is_covered && !is_handed_over;
        }
        let (leaving, ended): (Vec<_>, Vec<_>) = earlier.into_iter().partition(|it| it.is_leaving);
        for scope in &ended {
            self.end(scope);
        }
        self.scopes.extend(leaving);
        self.start_new(ctx);
        self.switch_fallbacks(ctx);
        self.show();
    }

    fn successor(&self, spec: WatchSpec, earlier: &[Scope]) -> Scope {
        let replaced = earlier.iter().filter(|scope| covers(&spec, &scope.spec));
        let replaced = replaced.map(|scope| scope.id).collect();
        let (namespace, selector) = (spec.namespace.clone(), spec.selection());
        let id = self.store.add_successor(namespace, selector, replaced);
        // A scope that was never listed ends at once: otherwise each change would leave another loop while a permission
        // is missing. Operators that followed it follow the successor.
        let is_alike = |scope: &&Scope| scope.spec.namespace == spec.namespace;
        let found = earlier.iter().filter(is_alike).filter(|scope| !self.is_listed(scope));
        let since = found.map(|scope| scope.since).min().unwrap_or(self.generation);
        Scope::new(spec, id, since)
    }

    pub(super) fn is_listed(&self, scope: &Scope) -> bool {
        self.store.reader().is_scope_synced(scope.id)
    }

    fn has_successor(&self, earlier: &Scope) -> bool {
        self.scopes.iter().any(|scope| scope.spec.namespace == earlier.spec.namespace)
    }

    fn start_new(&mut self, ctx: &Context<Self>) {
        for scope in 0..self.scopes.len() {
            if self.scopes[scope].watching.is_some() || self.scopes[scope].is_leaving {
                continue;
            }
            if self.fallbacks().contains(&scope) {
                self.rest(scope);
                if self.scopes[0].condition == WatchCondition::Synced {
                    self.scopes[scope].condition = WatchCondition::Synced;
                }
            } else if !self.reflecting.is_down() {
                self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
            }
        }
    }

    /// Ends the scopes that a scope in sync replaces; returns whether there were any.
    pub(super) fn take_over(&mut self, scope: usize) -> bool {
        let new = &self.scopes[scope];
        if new.is_leaving || !self.store.reader().is_scope_synced(new.id) {
            return false;
        }
        let spec = new.spec.clone();
        let is_over = |it: &mut Scope| it.is_leaving && covers(&spec, &it.spec);
        let over: Vec<Scope> = self.scopes.extract_if(.., is_over).collect();
        let has_taken_over = !over.is_empty();
        for scope in &over {
            self.announce_successor(scope);
            self.end(scope);
        }
        has_taken_over
    }

    /// Operators that followed the earlier scope follow its successor.
    fn announce_successor(&self, earlier: &Scope) {
        let is_next = |it: &&Scope| it.spec.namespace == earlier.spec.namespace;
        let Some(next) = self.scopes.iter().find(is_next) else { return };
        if next.condition != earlier.condition {
            let (watched, condition) = (next.spec.watched(), next.condition.clone());
            for observer in self.reflecting.observers.iter() {
                observer
                    .post(WatchChanged { watched: watched.clone(), condition: condition.clone() });
            }
        }
    }

    fn end(&self, scope: &Scope) {
        scope.watching.iter().for_each(AbortHandle::abort);
        self.store.end_scope(scope.id);
    }
}

/// Whether a watch shows the namespaces of another.
fn covers(spec: &WatchSpec, other: &WatchSpec) -> bool {
    spec.namespace.is_none() || spec.namespace == other.namespace
}

impl Receive<Rescoped> for Reflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, rescoped: Rescoped, ctx: &mut Self::Context) {
        self.rescope(rescoped, ctx);
    }
}
