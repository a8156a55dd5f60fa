//! How many children are not ready because the operator changed or deleted them: of a type that is rolled out
//! not more at a time than it allows. Goes by the state of the server, which the caches may show late.

use std::collections::{BTreeMap, BTreeSet};

use super::desired;
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

    /// The server answers a request of a reconcile whose handler returned these children.
    pub(super) fn answer(
        &mut self,
        request: &Request,
        is_wanted: impl Fn(&ChildId) -> bool,
        world: &mut World,
    ) -> Answer {
        let child = written(request).filter(|child| self.limits.contains_key(&child.ty));
        let child = child.filter(|child| is_wanted(child) && is_ready(child, world));
        let answer = world.answer(request);
        self.unready.extend(child.cloned());
        self.settle(world);
        for (ty, limit) in &self.limits {
            let unready: Vec<_> = self.unready.iter().filter(|child| child.ty == *ty).collect();
            assert!(unready.len() <= *limit, "{unready:?} are unavailable, at most {limit} may be");
        }
        answer
    }

    /// Forgets the children that are ready, and those that are not desired any more.
    pub(super) fn settle(&mut self, world: &World) {
        self.unready.retain(|child| !is_ready(child, world));
        if !self.unready.is_empty() {
            let wanted = desired::wanted(&world.get(&named("parent")).unwrap()["spec"]);
            self.unready.retain(|child| wanted.iter().any(|it| it.id == *child));
        }
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
