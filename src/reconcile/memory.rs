//! What a parent's runs remember from one to the next. There is one for each of very many parents, so
//! that what most of them lack takes no room.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
    time::Instant,
};

use super::{EventLog, PausedBy};
use crate::{
    metrics::Standing,
    object::{K8sType, Object, ResourceVersion},
    plan::{ChildId, Flapping, ForeignChild, Interlock, Lingering, Memos},
};

/// What a parent's runs remember from one to the next. Losing it costs a few requests, no more.
#[derive(Debug, Default)]
pub struct Memory {
    /// How each child was left.
    pub memos: Memos,
    /// How often in a row the handler has failed.
    pub handler_failures: HandlerFailures,
    /// Whether there was ever a child, so that a missing one may have been deleted.
    pub had_children: bool,
    /// Deletions that were too many; `None` before the first run.
    pub interlock: Option<Interlock>,
    /// What is written again and again.
    pub flapping: Flapping,
    /// Whether the finalizers of the parent were changed before.
    pub changed_finalizers: bool,
    /// The version at which the last run left the parent.
    pub parent: Option<ResourceVersion>,
    /// The pause that was told in an Event and is not over; `None` before the first run.
    pub told_pause: Option<Option<PausedBy>>,
    /// What the status was to say, see [`status_wish`](crate::plan::status_wish).
    pub status: Option<u64>,
    /// The Events about it; `None` when there was never one.
    pub events: Option<Box<EventLog>>,
    pub(super) troubles: Option<Box<Troubles>>,
}

/// What most parents have nothing of.
#[derive(Debug, Default)]
pub struct Troubles {
    /// Objects of others that stand where a child should be, as they were last seen.
    pub foreign: BTreeMap<ChildId, ForeignChild>,
    /// The children in conflict, as they are counted.
    pub in_conflict: Box<[Standing]>,
    /// The children of which the server makes something else, as they are counted.
    pub altered: Box<[Standing]>,
    /// A hash of what was last told of them.
    pub told_altered: Option<u64>,
    /// The children that are not deleted because they are too many, as they are counted.
    pub held: Option<Standing>,
    /// Children that were deleted because of an immutable field, each with the wish that asked for it.
    pub recreated: BTreeMap<ChildId, u64>,
    /// What was last said of fields that others hold, so that it is not sent again.
    pub last_contested: Option<String>,
    /// The types that were told to keep deletions waiting, and do.
    pub told_unsynced: BTreeSet<K8sType>,
    /// Children at which the server asked for patience, until it no longer does.
    pub throttled: BTreeSet<ChildId>,
    /// While a child is away that was deleted to be created anew: how often something was too often (0
    /// for not), for which the wait comes when it is there again.
    pub owed_wait: Option<u32>,
    /// Children that take their time to go.
    pub lingering: Lingering,
    /// A value of the annotation that was told to pause nothing.
    pub told_pause_value: Option<Box<str>>,
    /// What changed nothing when it was last written as the status, and when: it is not sent again soon.
    pub unkept_status: Option<(u64, Instant)>,
    /// A hash of what was last told not to be declared of its status.
    pub told_undeclared: Option<u64>,
}

/// How often in a row a handler has failed for a parent as it is: another spec is another matter, and so
/// is its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandlerFailures {
    times: u32,
    is_deleting: bool,
    /// -1 for a type that has none.
    generation: i64,
}

/// Of those who have none.
static NO_TROUBLES: LazyLock<Troubles> = LazyLock::new(Troubles::default);

impl Memory {
    /// What most parents have nothing of.
    pub fn troubles(&self) -> &Troubles {
        self.troubles.as_deref().unwrap_or(&NO_TROUBLES)
    }

    /// The same, to put something in.
    pub fn troubles_mut(&mut self) -> &mut Troubles {
        self.troubles.get_or_insert_default()
    }

    /// The same where there is something to put in, or something that may have to be taken out.
    pub(super) fn troubles_if(&mut self, is_one: bool) -> Option<&mut Troubles> {
        if is_one { Some(self.troubles_mut()) } else { self.troubles.as_deref_mut() }
    }

    /// Takes no room for troubles that are over.
    pub(super) fn shrink(&mut self) {
        if self.troubles.as_ref().is_some_and(|troubles| troubles.are_over()) {
            self.troubles = None;
        }
    }
}

impl Troubles {
    fn are_over(&self) -> bool {
        let Self { foreign, in_conflict, held, recreated, last_contested, throttled, .. } = self;
        let Self { told_unsynced, lingering, told_pause_value, .. } = self;
        let Self { unkept_status, told_undeclared, altered, told_altered, owed_wait, .. } = self;
        foreign.is_empty()
            && in_conflict.is_empty()
            && altered.is_empty()
            && told_altered.is_none()
            && held.is_none()
            && recreated.is_empty()
            && last_contested.is_none()
            && told_unsynced.is_empty()
            && throttled.is_empty()
            && owed_wait.is_none()
            && lingering.is_empty()
            && told_pause_value.is_none()
            && unkept_status.is_none()
            && told_undeclared.is_none()
    }
}

impl HandlerFailures {
    /// One more.
    pub(super) fn after(times: u32, parent: &Object) -> Self {
        let (generation, is_deleting) = Self::now(parent);
        Self { times: times.saturating_add(1), is_deleting, generation }
    }

    /// How many there were for a parent as it is now.
    pub(super) fn of(self, parent: &Object) -> u32 {
        if (self.generation, self.is_deleting) == Self::now(parent) { self.times } else { 0 }
    }

    fn now(parent: &Object) -> (i64, bool) {
        (parent.generation().unwrap_or(-1), parent.is_deleting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_take_room_only_while_there_are_some() {
        assert!(size_of::<Memory>() <= 200, "{} bytes", size_of::<Memory>());
        let mut memory = Memory::default();
        assert!(memory.troubles_if(false).is_none() && memory.troubles().throttled.is_empty());
        memory.troubles_mut().told_undeclared = Some(1);
        memory.shrink();
        assert_eq!(memory.troubles().told_undeclared, Some(1));
        memory.troubles_mut().told_undeclared = None;
        memory.shrink();
        assert!(memory.troubles.is_none());
    }
}
