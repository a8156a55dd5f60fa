//! What the reconciles of most parents have nothing of to remember.

use std::{collections::BTreeMap, time::Instant};

use crate::plan::{ChildId, ForeignChild, TerminatingChildren};

/// What most parents have nothing of.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// Objects of others that stand where a child should be, as they were last seen.
    pub(super) foreign: BTreeMap<ChildId, ForeignChild>,
    /// Children that were deleted because of an immutable field, each with what was desired then.
    pub(super) recreated: BTreeMap<ChildId, u64>,
    /// Children at which the server asked for patience, until it no longer does.
    pub(super) throttled: Vec<ChildId>,
    /// While a child is away that was deleted to be created again: how often something was too often (0
    /// for not), for which the wait comes when it is there again.
    pub(super) owed_wait: Option<u32>,
    /// Children that are being deleted for long.
    pub(super) terminating: TerminatingChildren,
    /// What changed nothing when it was last written as the status, and when: it is not sent again soon.
    pub(super) unkept_status: Option<(u64, Instant)>,
}

impl Rare {
    pub(super) fn is_over(&self) -> bool {
        let Self { foreign, recreated, throttled, owed_wait, terminating, unkept_status } = self;
        foreign.is_empty()
            && recreated.is_empty()
            && throttled.is_empty()
            && owed_wait.is_none()
            && terminating.is_empty()
            && unkept_status.is_none()
    }
}
