//! The parts of a memory that most parents do not use.

use std::{collections::BTreeMap, time::Instant};

use crate::{
    object::MarkedValues,
    plan::{ChildId, FinishedJobs, ForeignChild, HeldDecoration, TerminatingChildren},
    run::Now,
};

#[derive(Debug, Default)]
pub(super) struct Rare {
    /// Foreign objects with the name of a child, as last seen.
    pub(super) foreign: BTreeMap<ChildId, ForeignChild>,
    /// Children that were deleted for an immutable field, with the desired hash.
    pub(super) recreated: BTreeMap<ChildId, u64>,
    /// Children whose writes were throttled, until the server accepts writes again.
    pub(super) throttled: Vec<ChildId>,
    /// The wait that is deferred until a recreated child exists: how often something was too frequent, or 0.
    pub(super) deferred_wait: Option<u32>,
    /// Children that terminate slowly.
    pub(super) terminating: TerminatingChildren,
    /// The stages that children wait for, and since when.
    pub(super) waited_for: BTreeMap<usize, Now>,
    /// The status change that the server did not keep, and when it was sent: it is not repeated soon.
    pub(super) unkept_status: Option<(u64, Instant)>,
    /// A hash of what a decorator put on the parent.
    pub(super) decorated: Option<u64>,
    /// What others hold of it.
    pub(super) held_metadata: Option<Box<HeldDecoration>>,
    /// What others hold of its status fields.
    pub(super) held_status: Option<Box<HeldDecoration>>,
    /// The finished Jobs of the last plan.
    pub(super) finished_jobs: FinishedJobs,
    /// The secret fields of the parent at the last reconciles, the newest last: children may still have earlier ones.
    pub(super) marked: Vec<MarkedValues>,
}

impl Rare {
    pub(super) fn held(&mut self, in_status: bool) -> &mut Option<Box<HeldDecoration>> {
        if in_status { &mut self.held_status } else { &mut self.held_metadata }
    }

    pub(super) fn is_over(&self) -> bool {
        let Self { foreign, recreated, throttled, deferred_wait, terminating, .. } = self;
        let Self { waited_for, unkept_status, decorated, held_metadata, held_status, .. } = self;
        let Self { finished_jobs, marked, .. } = self;
        foreign.is_empty()
            && waited_for.is_empty()
            && recreated.is_empty()
            && throttled.is_empty()
            && deferred_wait.is_none()
            && terminating.is_empty()
            && unkept_status.is_none()
            && decorated.is_none()
            && held_metadata.is_none()
            && held_status.is_none()
            && finished_jobs.is_empty()
            && marked.is_empty()
    }
}
