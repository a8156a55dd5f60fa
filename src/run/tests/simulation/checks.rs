//! What must be true of each request that a reconcile sends, given its handler's answer and the snapshot at
//! that time. Panics where it is not.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    desired::Wanted,
    kinds::{value_in, value_of},
};
use crate::{
    object::{Object, Readiness, Uid},
    operator::{Pause, Rolling, UpdateStrategy},
    plan::{ChildId, Unsynced},
    run::{
        DryRun, Request, RequestId,
        tests::{
            caches::Caches,
            world::{PARENT_UID, named, parent_type},
        },
    },
};

/// The checks of one reconcile.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// What the handler returned; `None` before that, and when it failed.
    wanted: Option<Vec<Wanted>>,
    /// The types that were not in sync when the plan was made.
    unsynced: Unsynced,
    /// The children whose writes have begun, and whether they were ready then.
    begun: BTreeMap<ChildId, bool>,
    /// The unanswered writes and deletions of children.
    in_flight: Vec<(RequestId, ChildId)>,
}

impl Checks {
    pub(super) fn returned(&mut self, wanted: Vec<Wanted>) {
        self.wanted = Some(wanted);
    }

    /// The machine is about to plan.
    pub(super) fn plans(&mut self, caches: &Caches) {
        self.unsynced = caches.snapshot().doubts.unsynced;
    }

    pub(super) fn answered(&mut self, id: RequestId) {
        self.in_flight.retain(|(known, _)| *known != id);
    }

    pub(super) fn sent(&mut self, id: RequestId, request: &Request, caches: &Caches) {
        let child = match request {
            Request::Apply { id, body, dry_run: DryRun::No, .. } => {
                self.written(id, body);
                id
            }
            Request::Delete { id, .. } => {
                self.deleted(id, caches);
                id
            }
            Request::Apply { id, .. } | Request::ReadWhole(id) => return self.begun(id, caches),
            Request::Patch(child, _) => panic!("{child} is patched"),
            Request::Scale { id, .. } => panic!("{id} is scaled"),
            Request::PatchStatus(parent, _) | Request::ApplyStatus { id: parent, .. } => {
                assert_eq!(parent.ty, parent_type(), "the status of a child is written");
                return;
            }
            Request::Read(_) | Request::List { .. } => return,
        };
        let is_paused =
            caches.cached(&named("parent")).is_some_and(|parent| Pause::of(&parent).is_some());
        assert!(!is_paused, "{child} is written, and its parent is paused");
        let is_in_flight = self.in_flight.iter().any(|(_, other)| other == child);
        assert!(!is_in_flight, "two writes of {child} are in flight");
        self.in_flight.push((id, child.clone()));
        self.begun(child, caches);
    }

    /// Before the first request of a write, every child of the stages before it is ready, and each that it
    /// waits for.
    fn begun(&mut self, child: &ChildId, caches: &Caches) {
        let Some(written) = self.wanted(child).cloned() else { return };
        if self.begun.contains_key(child) {
            return;
        }
        let is_ready = is_available(child, caches);
        self.begun.insert(child.clone(), is_ready);
        for before in self.before(&written) {
            let why_not = not_ready(before, caches);
            assert_eq!(why_not, None, "{child} is written before {} is ready", before.id);
        }
        let config = caches.settings.config().child_config(&child.ty);
        if let Some(rolling) = config.and_then(|config| config.rolling).filter(|_| is_ready) {
            self.rolled_out(&written, rolling, caches);
        }
    }

    /// Before a child that is ready is changed, not too many others of its type are unavailable. Those do not
    /// count that may wait for earlier children themselves.
    fn rolled_out(&self, written: &Wanted, rolling: Rolling, caches: &Caches) {
        let all = || self.wanted.iter().flatten().filter(|it| it.id.ty == written.id.ty);
        let is_unavailable = |other: &&Wanted| {
            self.before(other).next().is_none() && !is_available(&other.id, caches)
        };
        let others = all().filter(|it| it.id != written.id).filter(is_unavailable).count();
        let allowed = rolling.allows(all().count());
        assert!(others < allowed, "{} is changed, and {others} are unavailable", written.id);
    }

    /// The children of the stages before a child, and those that it waits for.
    fn before<'a>(&'a self, child: &'a Wanted) -> impl Iterator<Item = &'a Wanted> {
        let is_before =
            move |other: &&Wanted| other.stage < child.stage || child.after.contains(&other.name);
        self.wanted.iter().flatten().filter(is_before)
    }

    fn written(&self, child: &ChildId, body: &Value) {
        let wanted = self.wanted(child).unwrap_or_else(|| panic!("{child} is not desired"));
        assert_eq!(value_in(child, body), Some(&*wanted.value), "another {child} is written");
    }

    /// That it is ours is checked by the server, at the version that the request names.
    fn deleted(&self, child: &ChildId, caches: &Caches) {
        assert!(self.wanted.is_some(), "{child} is deleted without an answer of the handler");
        let is_unknown = self.unsynced.covers(child);
        assert!(!is_unknown, "{child} is deleted, and its type was not in sync");
        let config = caches.settings.config().child_config(&child.ty).unwrap();
        let is_recreated = config.update_strategy == UpdateStrategy::Recreate;
        assert!(is_recreated || self.wanted(child).is_none(), "{child} is desired, and deleted");
    }

    /// Whether a child is desired, and was ready when its write began.
    pub(super) fn takes_down(&self, child: &ChildId) -> bool {
        self.begun.get(child) == Some(&true)
    }

    fn wanted(&self, child: &ChildId) -> Option<&Wanted> {
        self.wanted.iter().flatten().find(|wanted| wanted.id == *child)
    }
}

fn is_available(child: &ChildId, caches: &Caches) -> bool {
    let is_good = |object: Object| is_ours(&object) && Readiness::of(&object).is_good();
    caches.cached(child).is_some_and(is_good)
}

fn is_ours(object: &Object) -> bool {
    object.controller() == Some(&Uid::new(PARENT_UID))
}

/// Why a child that others wait for is not ready, as the snapshot shows it.
fn not_ready(child: &Wanted, caches: &Caches) -> Option<&'static str> {
    match caches.cached(&child.id) {
        None => Some("it does not exist"),
        Some(object) if !is_ours(&object) => Some("it is not ours"),
        Some(object) if value_of(&object).as_ref() != Some(&child.value) => Some("it differs"),
        Some(object) => (!Readiness::of(&object).is_good()).then_some("it is not ready"),
    }
}
