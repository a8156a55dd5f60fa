//! From the first conditions of the watches to the first reconciles, in each scope by itself.
//!
//! No handler is called for a parent before every type is listed in its scope, because children would seem to be
//! deleted. In `OfStatuses` the status of each parent reports why.

use std::cmp::Reverse;

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
    object::Object,
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
        self.trigger_listed(parents, trigger);
    }

    /// Triggers parents that were listed, first those for whose effect a user waits.
    pub(super) fn trigger_listed(&mut self, parents: Vec<Object>, trigger: Trigger) {
        let urgent = |parent: Object| (listed_trigger(&parent).unwrap_or(trigger), parent);
        let mut parents: Vec<(Trigger, Object)> = parents.into_iter().map(urgent).collect();
        parents.sort_by_key(|(trigger, _)| Reverse(*trigger));
        for (trigger, parent) in parents {
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

/// Of a parent that is being deleted, or changed while no process worked for it.
fn listed_trigger(parent: &Object) -> Option<Trigger> {
    if parent.is_deleting() {
        return Some(Trigger::Deletion);
    }
    let status = parent.part_of("status", &["observedGeneration"]);
    // None was observed of a parent that is new.
    let is_behind = parent.generation() > status["observedGeneration"].as_i64();
    is_behind.then_some(Trigger::Parent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn parents_that_changed_while_no_process_worked_for_them_are_urgent() {
        let trigger = |more: serde_json::Value| {
            let mut parent = json!({
                "metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "generation": 2},
            });
            json_patch::merge(&mut parent, &more);
            let ty = K8sType::cluster_scoped("v1", "Thing", "things");
            listed_trigger(&Object::from_value(&ty, &parent, &KeptManagers::default()).unwrap())
        };
        let observed = |generation| json!({"status": {"observedGeneration": generation}});
        assert_eq!(trigger(observed(2)), None);
        assert_eq!(trigger(observed(1)), Some(Trigger::Parent));
        assert_eq!(trigger(json!({})), Some(Trigger::Parent), "it is new");
        let without = json!({"metadata": {"generation": null}});
        assert_eq!(trigger(without), None, "its type has no generations");
        let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        assert_eq!(trigger(deleted), Some(Trigger::Deletion));
    }
}
