//! How many children are not ready because the operator changed or deleted them: of a type that is rolled out
//! not more at a time than it allows. Goes by the state of the server, which the caches may show late.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    desired::{self, Wanted},
    kinds,
};
use crate::{
    object::{K8sType, Readiness, Uid},
    plan::ChildId,
    run::{
        Answer, DryRun, Request,
        tests::world::{PARENT_UID, World, named},
    },
};

#[derive(Debug, Default)]
pub(super) struct Rollouts {
    /// The most unavailable children of each type that is rolled out.
    limits: BTreeMap<K8sType, usize>,
    /// The children that were ready before the operator wrote them, and were not since.
    unready: BTreeSet<ChildId>,
}

impl Rollouts {
    pub(super) fn new(limits: BTreeMap<K8sType, usize>) -> Self {
        Self { limits, unready: BTreeSet::new() }
    }

    /// The server answers a request. `takes_down` tells whether the reconcile saw a desired child that was ready: one
    /// that was not may be changed at any time.
    pub(super) fn answer(
        &mut self,
        request: &Request,
        takes_down: impl Fn(&ChildId) -> bool,
        world: &mut World,
    ) -> Answer {
        let child = written(request).filter(|child| self.limits.contains_key(&child.ty));
        let child = child.filter(|child| takes_down(child) && is_ready(child, world));
        let answer = world.answer(request);
        self.unready.extend(child.cloned());
        self.settle(world);
        for (ty, limit) in &self.limits {
            let unready: Vec<_> = self.unready.iter().filter(|child| child.ty == *ty).collect();
            assert!(
                unready.len() <= *limit,
                "{unready:?} are unavailable, at most {limit} may be because of us"
            );
        }
        answer
    }

    /// Forgets the children that are ready or not desired any more, and those that are to be changed again and
    /// wait for earlier ones: they must not keep these from being changed.
    pub(super) fn settle(&mut self, world: &World) {
        self.unready.retain(|child| !is_ready(child, world));
        if self.unready.is_empty() {
            return;
        }
        let wanted = desired::wanted(&world.get(&named("parent")).unwrap()["spec"]);
        let value =
            |child: &ChildId| world.object(child).and_then(|object| kinds::value_of(&object));
        let counts = |wanted: &Wanted| {
            let is_first = wanted.stage == 0 && wanted.after.is_empty();
            is_first || value(&wanted.id).as_ref() == Some(&wanted.value)
        };
        self.unready.retain(|child| wanted.iter().any(|it| it.id == *child && counts(it)));
    }
}

/// The child that a request changes or deletes.
fn written(request: &Request) -> Option<&ChildId> {
    match request {
        Request::Apply { id, dry_run: DryRun::No, .. } | Request::Delete { id, .. } => Some(id),
        _ => None,
    }
}

fn is_ready(child: &ChildId, world: &World) -> bool {
    world.object(child).is_some_and(|object| {
        object.controller() == Some(&Uid::new(PARENT_UID)) && Readiness::state_of(&object).is_good()
    })
}
