//! From the first conditions of the watches to the first reconciles, in each scope by itself.
//!
//! No handler is called for a parent before every type is listed in its scope, because children would seem to be
//! deleted. In `OfStatuses` the status of each parent reports why.

use super::{
    OperatorActor, Start,
    scopes::{Readable, Scope, covers, readable},
};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{WatchChanged, WatchCondition},
    },
    history::Cause,
    schedule::Trigger,
    store::StoreReader,
};

impl Receive<WatchChanged> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, changed: WatchChanged, _: &mut Self::Context) {
        self.related_watch_changed(&changed);
        let WatchChanged { watched, condition } = changed;
        let Some(known) = self.watches.get_mut(&watched) else { return };
        *known = condition;
        if watched.ty == *self.parts.parents.ty() {
            self.parts.context.forget_schema();
            self.read_schema_ahead();
        }
        self.apply_when_listed();
        self.start_when_listed();
        self.show_state();
    }
}

impl OperatorActor {
    /// Starts the scopes that can start now.
    pub(super) fn start_when_listed(&mut self) {
        if self.supervision.is_down || self.is_over {
            return;
        }
        let is_partial = |(_, start): &(&Scope, Start)| *start != Start::Full;
        let scopes: Vec<Scope> =
            self.scopes.all().filter(is_partial).map(|(scope, _)| scope.clone()).collect();
        for scope in &scopes {
            self.start_if_readable(scope);
        }
    }

    fn start_if_readable(&mut self, scope: &Scope) {
        let context = self.parts.context.clone();
        match readable(scope, &self.watches, context.config()) {
            Readable::Listed => {
                context.set_unavailable(scope.as_deref(), None);
                self.reconcile_all(scope, Start::Full);
                self.report_undecodable(scope);
            }
            Readable::Parents(why) => {
                // After a restart the parents report what is known already.
                let is_first = self.scopes.start_in(scope.as_deref()) == Start::Awaited;
                if context.set_unavailable(scope.as_deref(), Some(why)) || is_first {
                    self.reconcile_all(scope, Start::OfStatuses);
                }
            }
            Readable::NotYet => {}
        }
    }

    /// Whether the parents of some scope are listed.
    fn are_parents_listed(&self) -> bool {
        let parent = self.parts.parents.ty();
        let mut conditions = self.watches.iter().filter(|(watched, _)| watched.ty == *parent);
        conditions.any(|(_, at)| *at == WatchCondition::Synced)
    }

    /// Triggers all parents of a scope. Those that reported the refusal do not wait for their next check.
    fn reconcile_all(&mut self, scope: &Scope, start: Start) {
        let is_first = self.scopes.start_in(scope.as_deref()) == Start::Awaited;
        let trigger = if is_first { Trigger::Listed } else { Trigger::Parent };
        self.scopes.set(scope, start);
        let mut parents = self.parts.parents.list();
        parents.retain(|parent| {
            covers(scope, parent.namespace()) && self.parts.context.answers_for(parent)
        });
        for parent in parents {
            let trigger = if parent.is_deleting() { Trigger::Deletion } else { trigger };
            self.parent_is(&parent, trigger, Cause::Restarted);
            self.label_later(&parent);
        }
    }

    fn report_undecodable(&self, scope: &Scope) {
        let readers = [&self.parts.parents].into_iter().chain(&self.parts.children);
        for object in readers.flat_map(StoreReader::undecodable) {
            if object.key().is_none_or(|key| covers(scope, key.namespace.as_deref())) {
                self.undecodable(object);
            }
        }
    }

    /// Reads the schema of the parents' status while the children are listed. Otherwise all first reconciles
    /// would wait for it.
    fn read_schema_ahead(&self) {
        if self.are_parents_listed() {
            let context = self.parts.context.clone();
            self.parts.runtime.spawn(async move { context.read_schema_ahead().await });
        }
    }
}
