//! Another configuration of a running operator.
//!
//! The new configuration takes effect when its watches are listed in each namespace that works, and in at least one.
//! Until then reconciles use the earlier configuration.
//!
//! ```text
//! Reconfigured --watches listed--> new settings for all reconcilers --+--> parents that it selects now
//!      ^                                                                  +--> parents that it no longer selects
//!      +--- a later one replaces it                                       +--> with other children: all parents
//! ```

use std::{collections::BTreeMap, sync::Arc};

use actix::Context;

use super::{
    OperatorActor, WatchCondition,
    scopes::{is_ready, scopes},
};
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{Finalized, Reconfigured},
        reconciler::{ReconcilerParts, Replaced},
    },
    execute,
    history::Cause,
    object::Object,
    operator::OperatorConfig,
    run::Settings,
    schedule::Trigger,
};

impl Receive<Reconfigured> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, new: Reconfigured, _: &mut Context<Self>) {
        if self.is_over {
            return;
        }
        let known = std::mem::take(&mut self.watches);
        let condition = |watched| match known.get(watched) {
            Some(known) if !new.changed.contains(&watched.ty) => known.clone(),
            Some(_) | None => WatchCondition::Pending,
        };
        let watches = new.relies_on.iter().map(|it| (it.clone(), condition(it)));
        self.watches = watches.collect::<BTreeMap<_, _>>();
        self.pending = Some(Box::new(new));
        self.apply_when_listed();
        self.start_when_listed();
        self.show_state();
    }
}

impl Receive<Finalized> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, Finalized { done }: Finalized, _: &mut Context<Self>) {
        let context = Arc::new(self.parts.context.finalizing());
        self.pending = None;
        self.replace(context, false);
        self.finalized = Some(done);
        self.report_finalized();
    }
}

impl OperatorActor {
    /// Applies the configuration that waits, if its watches are listed.
    pub(super) fn apply_when_listed(&mut self) {
        let is_due = |new: &mut Box<Reconfigured>| {
            is_ready(new.context.config(), &self.watches, &self.scopes)
        };
        let Some(pending) = self.pending.take_if(is_due) else { return };
        let Reconfigured { context, children, concerns_all, applied, .. } = *pending;
        self.parts.children = children;
        self.replace(context, concerns_all);
        // Nobody listens when the operator goes.
        let _ = applied.send(());
    }

    fn replace(&mut self, context: Arc<execute::Context>, concerns_all: bool) {
        let before = std::mem::replace(&mut self.parts.context, context.clone());
        self.reconcilers = Arc::new(ReconcilerParts { context, ..(*self.reconcilers).clone() });
        for parent in self.parents.values() {
            let parts = self.reconcilers.clone();
            post(&parent.reconciler, &self.reconcilers.mailbox, Replaced { parts });
        }
        let had_begun = self.scopes.have_begun();
        self.follow_scopes(before.config());
        if had_begun {
            for parent in self.parts.parents.list() {
                self.reselect(&parent, &before.settings, concerns_all);
            }
        }
    }

    fn follow_scopes(&mut self, before: &OperatorConfig) {
        let config = self.parts.context.config();
        let left = scopes(before).into_iter().filter(|scope| !scopes(config).contains(scope));
        for scope in left {
            self.parts.context.set_unavailable(scope.as_deref(), None);
        }
        self.scopes.follow(config, &self.watches);
    }

    fn reselect(&mut self, parent: &Object, before: &Settings, concerns_all: bool) {
        let now = self.parts.context.settings.clone();
        if !now.answers_for(parent) {
            return self.retire(parent.key());
        }
        if !self.has_begun(parent.namespace()) {
            return;
        }
        let is_known = before.answers_for(parent) && self.parents.contains_key(parent.key());
        if !is_known || concerns_all || before.selects(parent) != now.selects(parent) {
            let trigger = if parent.is_deleting() { Trigger::Deletion } else { Trigger::Parent };
            self.parent_is(parent, trigger, Cause::Reconfigured);
        }
    }

    /// Reports that all parents are finalized, if that was asked for.
    pub(super) fn report_finalized(&mut self) {
        if self.parents.is_empty() && self.ending.is_empty() {
            let Some(done) = self.finalized.take() else { return };
            // Nobody may be waiting any more.
            let _ = done.send(());
        }
    }
}
