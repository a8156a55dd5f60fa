//! The lifecycle of a parent, from its first appearance to the end of its reconciler.

use std::time::Duration;

use actix::AsyncContext;

use super::{OperatorActor, Parent};
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{Awaits, Ended, Retire, Touched},
        reconciler::Reconciler,
        supervised::guarded,
    },
    board::ParentState,
    history::{Cause, ObjectChange},
    object::{Object, ObjectKey, Uid},
    plan::ForeignChild,
    schedule::Trigger,
};

/// After what time a reconciler that died is replaced. Its last reconcile may still be in progress.
const RESTART_DELAY: Duration = Duration::from_secs(10);

impl OperatorActor {
    pub(super) fn parent_is(&mut self, parent: &Object, trigger: Trigger, cause: Cause) {
        if self.parents.get(parent.key()).is_none_or(|known| known.uid != *parent.uid()) {
            self.retire(parent.key());
            self.show_pending(parent);
            if self.ending.contains(parent.uid()) {
                return;
            }
            self.start_reconciler(parent);
        }
        if let Some(known) = self.parents.get(parent.key()) {
            post(&known.reconciler, &self.reconcilers.mailbox, Touched { trigger, cause });
        }
    }

    fn start_reconciler(&mut self, parent: &Object) {
        let (key, uid) = (parent.key().clone(), parent.uid().clone());
        let (parts, of) = (self.reconcilers.clone(), (key.clone(), uid.clone()));
        let make = move || Reconciler::new(parts, of.0, of.1);
        let reconciler = self.parts.pool.start(&uid, make);
        self.keys.insert(uid.clone(), key.clone());
        self.parents.insert(key, Parent { uid, reconciler });
    }

    /// Not done by the reconciler, which may be retired before it is first polled.
    fn show_pending(&self, parent: &Object) {
        let state = ParentState::pending(parent.uid().clone(), parent.generation());
        self.parts.board.record(self.name(), parent.key(), state);
    }

    pub(super) fn retire(&mut self, key: &ObjectKey) {
        if let Some(known) = self.parents.remove(key) {
            self.keys.remove(&known.uid);
            self.awaiting.set(&known.uid, Vec::new());
            self.ending.insert(known.uid);
            post(&known.reconciler, &self.reconcilers.mailbox, Retire);
        } else if self.ending.is_empty() {
            return;
        }
        self.parts.board.forget(self.name(), key);
    }

    /// The last reconcile of a deleted parent has ended; the parent may exist again.
    fn ended(&mut self, key: &ObjectKey, uid: &Uid) {
        self.ending.remove(uid);
        if self.is_over {
            return self.parts.context.parts.reads.forget(uid);
        }
        let parent = self.answered_for(key);
        if parent.as_ref().is_none_or(|parent| parent.uid() != uid) {
            self.parts.context.parts.reads.forget(uid);
        }
        match parent {
            // It is reconciled with all others.
            _ if !self.has_begun(key.namespace.as_deref()) => {}
            Some(parent) if parent.uid() == uid => self.parent_is_now(None, &parent),
            // It existed again for a moment, and the board shows it as pending.
            None if !self.parents.contains_key(key) => self.parts.board.forget(self.name(), key),
            Some(_) | None => {}
        }
    }
}

impl Receive<Ended> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, Ended { key, uid }: Ended, ctx: &mut Self::Context) {
        if self.keys.remove(&uid).is_none() {
            self.ended(&key, &uid);
            self.report_finalized();
            return self.stop_when_over(ctx);
        }
        tracing::error!(operator = %self.name(), parent = %key, restart_in = ?RESTART_DELAY,
            "the reconciler of the parent panicked; this is a bug in Operetta");
        self.parts.context.metrics().restarted(self.name());
        self.parents.remove(&key);
        self.awaiting.set(&uid, Vec::new());
        self.ending.insert(uid.clone());
        ctx.run_later(RESTART_DELAY, move |operator, ctx| {
            guarded(operator, ctx, |operator, ctx| {
                operator.ended(&key, &uid);
                operator.stop_when_over(ctx);
            });
        });
    }
}

impl Receive<Awaits> for OperatorActor {
    fn receive(&mut self, Awaits { parent, foreign }: Awaits, _: &mut Self::Context) {
        let Some(known) = self.keys.get(&parent).and_then(|key| self.parents.get(key)) else {
            return;
        };
        // An event that came before this message woke nobody.
        if let Some(change) = foreign.iter().find_map(|it| self.changed_since(it)) {
            let (trigger, cause) = (Trigger::Awaited, Cause::ChildChanged(Box::new(change)));
            post(&known.reconciler, &self.reconcilers.mailbox, Touched { trigger, cause });
        }
        self.awaiting.set(&parent, foreign.into_iter().map(|it| it.id).collect());
    }
}

impl OperatorActor {
    fn changed_since(&self, known: &ForeignChild) -> Option<ObjectChange> {
        let children = self.parts.children.iter().find(|reader| *reader.ty() == known.id.ty)?;
        let now = children.get(&known.id.key);
        // Of many foreign objects the watch shows nothing.
        let is_changed = match &now {
            Some(now) => *now.uid() != known.uid || *now.resource_version() != known.version,
            None => children.has_left_since(&known.uid, &known.version),
        };
        is_changed.then(|| ObjectChange {
            ty: known.id.ty.clone(),
            key: known.id.key.clone(),
            from: Some(known.version.clone()),
            to: now.map(|now| now.resource_version().clone()),
        })
    }
}

#[cfg(test)]
impl Receive<crate::actors::tests::Panic> for OperatorActor {
    fn receive(&mut self, _: crate::actors::tests::Panic, _: &mut Self::Context) {
        for parent in self.parents.values() {
            post(&parent.reconciler, &self.reconcilers.mailbox, crate::actors::tests::Panic);
        }
    }
}
