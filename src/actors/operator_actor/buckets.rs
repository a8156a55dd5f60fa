//! Follows the buckets in which the process works: parents of a bucket that is given up are retired, those of a bucket that
//! is taken are reconciled.

use super::{
    OperatorActor, Start,
    scopes::{Scope, covers},
};
use crate::{
    actors::{mailbox::Receive, messages::BucketsChanged},
    object::{Object, ObjectKey},
    schedule::Trigger,
};

impl Receive<BucketsChanged> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, _: BucketsChanged, _: &mut Self::Context) {
        if self.is_over {
            return;
        }
        self.retire_elsewhere();
        let begun = self.scopes.all().filter(|(_, start)| *start != Start::Awaited);
        let begun: Vec<Scope> = begun.map(|(scope, _)| scope.clone()).collect();
        for scope in &begun {
            self.take_up(scope);
        }
    }
}

impl OperatorActor {
    /// Retires the parents that another process works for.
    fn retire_elsewhere(&mut self) {
        let context = self.parts.context.clone();
        let is_elsewhere = |uid| !context.works_for(uid);
        let elsewhere = self.parents.iter().filter(|(_, parent)| is_elsewhere(&parent.uid));
        let elsewhere: Vec<ObjectKey> = elsewhere.map(|(key, _)| key.clone()).collect();
        for key in &elsewhere {
            self.retire(key);
        }
    }

    /// Reconciles the parents of a scope that this process did not work for before.
    fn take_up(&mut self, scope: &Scope) {
        let is_new = |parent: &Object| {
            let is_known = self.parents.get(parent.key()).is_some_and(|it| it.uid == *parent.uid());
            !is_known && covers(scope, parent.namespace())
        };
        let mut parents = self.parts.parents.list();
        parents.retain(|parent| is_new(parent) && self.parts.context.answers_for(parent));
        self.trigger_listed(parents, Trigger::Listed);
    }
}
