//! The memory of a parent between its reconciles. There is one per parent, so rare parts are allocated only
//! when used. Only [`Memory::learn`] changes it, except for the last applied state of a plan, which is too
//! big to copy.

#![deny(clippy::wildcard_enum_match_arm)]

mod handler_failures;
mod rare;

use std::{
    collections::BTreeMap,
    sync::LazyLock,
    time::{Duration, Instant},
};

pub(crate) use handler_failures::HandlerFailures;
use rare::Rare;

use crate::{
    history::Verb,
    journal::{Decorated, Fact, Left, Planned, Written},
    object::{MarkedValues, ResourceVersion},
    plan::{
        Calm, ChildId, DeletionGuard, FinishedJobs, Flapping, ForeignChild, HeldDecoration,
        LastApplied, TerminatingChildren,
    },
    report::{Announced, MemoryView},
    run::Now,
};

/// The memory of a parent between its reconciles. Losing it costs a few requests, no more.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    last_applied: LastApplied,
    pub(crate) handler_failures: HandlerFailures,
    /// Whether a child ever existed, so that a missing one may have been deleted.
    had_children: bool,
    /// The state of the deletion guard; `None` before the first reconcile.
    deletion_guard: Option<DeletionGuard>,
    flapping: Flapping,
    /// Whether the finalizers of the parent were changed before.
    pub(super) changed_finalizers: bool,
    parent: Option<ResourceVersion>,
    /// A hash of the desired status, see [`desired_status_hash`](crate::plan::desired_status_hash).
    status: Option<u64>,
    /// The Events that were sent; owned by `report`.
    announced: Announced,
    rare: Option<Box<Rare>>,
}

/// How many versions of its secret fields are remembered of a parent whose children do not follow.
const MOST_MARKED: usize = 8;

/// For parents without rare parts.
static NOTHING_RARE: LazyLock<Rare> = LazyLock::new(Rare::default);

// === reading ===

impl Memory {
    pub(crate) fn last_applied(&self) -> &LastApplied {
        &self.last_applied
    }

    pub(crate) fn had_children(&self) -> bool {
        self.had_children
    }

    pub(crate) fn deletion_guard(&self) -> Option<&DeletionGuard> {
        self.deletion_guard.as_ref()
    }

    pub(crate) fn flapping(&self) -> &Flapping {
        &self.flapping
    }

    pub(crate) fn parent(&self) -> Option<&ResourceVersion> {
        self.parent.as_ref()
    }

    pub(crate) fn status(&self) -> Option<u64> {
        self.status
    }

    pub(crate) fn announced_mut(&mut self) -> &mut Announced {
        &mut self.announced
    }

    pub(crate) fn foreign(&self) -> &BTreeMap<ChildId, ForeignChild> {
        &self.rare().foreign
    }

    pub(crate) fn recreated(&self) -> &BTreeMap<ChildId, u64> {
        &self.rare().recreated
    }

    pub(super) fn is_throttled(&self, child: &ChildId) -> bool {
        self.rare().throttled.contains(child)
    }

    pub(crate) fn deferred_wait(&self) -> Option<u32> {
        self.rare().deferred_wait
    }

    pub(super) fn terminating(&self) -> &TerminatingChildren {
        &self.rare().terminating
    }

    /// Since when children wait for a stage; now if they did not before.
    pub(super) fn waited_since(&self, stage: usize, now: Now) -> Now {
        self.rare().waited_for.get(&stage).copied().unwrap_or(now)
    }

    pub(super) fn waits_for_stages(&self) -> bool {
        !self.rare().waited_for.is_empty()
    }

    pub(super) fn unkept_status(&self) -> Option<(u64, Instant)> {
        self.rare().unkept_status
    }

    /// A hash of what a decorator put on the parent.
    pub(super) fn decorated(&self) -> Option<u64> {
        self.rare().decorated
    }

    /// What others hold of what a decorator puts on the parent.
    pub(super) fn held_decoration(&self, in_status: bool) -> Option<&HeldDecoration> {
        let rare = self.rare();
        if in_status { rare.held_status.as_deref() } else { rare.held_metadata.as_deref() }
    }

    /// The finished Jobs of the last plan, which the status of the parent may not show yet.
    pub(super) fn finished_jobs(&self) -> &FinishedJobs {
        &self.rare().finished_jobs
    }

    /// The secret fields of the parent at the last reconciles.
    pub(super) fn marked(&self) -> &[MarkedValues] {
        &self.rare().marked
    }

    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING_RARE)
    }
}

impl Memory {
    pub(crate) fn view(&self, calms_in: Option<Duration>, is_leaving: bool) -> MemoryView<'_> {
        MemoryView {
            last_applied: &self.last_applied,
            flapping: &self.flapping,
            deletion_guard: self.deletion_guard.as_ref(),
            foreign: self.foreign(),
            has_deferred_wait: self.deferred_wait().is_some(),
            calms_in,
            is_leaving,
        }
    }
}

impl Memory {
    pub(crate) fn for_preview(&self) -> Self {
        let (foreign, marked) = (self.foreign().clone(), self.marked().to_vec());
        let rare = Rare { foreign, marked, ..Rare::default() };
        Self {
            last_applied: self.last_applied.clone(),
            handler_failures: self.handler_failures,
            rare: Some(Box::new(rare)),
            ..Self::default()
        }
    }
}

// === changing ===

impl Memory {
    pub(super) fn set_last_applied(&mut self, last_applied: LastApplied) {
        self.last_applied = last_applied;
    }

    /// `are_followed`: whether no child has values of earlier versions.
    pub(super) fn remember_marked(&mut self, now: MarkedValues, are_followed: bool) {
        self.rare_if(!now.is_empty(), |rare| {
            if are_followed {
                rare.marked.clear();
            }
            rare.marked.retain(|earlier| *earlier != now);
            rare.marked.push(now);
            let surplus = rare.marked.len().saturating_sub(MOST_MARKED);
            rare.marked.drain(..surplus);
        });
    }

    /// Learns from a fact. `calm` is how long a repeated write counts.
    #[expect(clippy::match_same_arms, reason = "what does not matter here, by subject")]
    pub(super) fn learn(&mut self, fact: &Fact, at: Now, calm: Calm) {
        let now = at.monotonic;
        match fact {
            // === the parent ===
            Fact::Began(version) => {
                self.parent = Some(version.clone());
                self.flapping.forget_before(now, calm);
            }
            Fact::FinalizersChanged => {
                self.changed_finalizers = true;
                self.flapping.forget_before(now, calm);
            }
            Fact::Parent(_) | Fact::BeganPaused(_) | Fact::Paused(_) | Fact::ParentWaits(_) => {}
            Fact::FinalizersDelayed(_) | Fact::PauseKnown(..) => {}
            // === the handler, the plan ===
            Fact::Answered { has_failed, generation, is_deleting } => {
                self.handler_failures.answered(*has_failed, *generation, *is_deleting);
            }
            Fact::Planned(planned) => self.learn_of_plan(planned),
            Fact::TerminatingChildren { terminating, .. } => {
                let is_one = !terminating.is_empty();
                self.rare_if(is_one, |rare| rare.terminating = terminating.clone());
            }
            Fact::Judged { deletion_guard, .. } => {
                self.deletion_guard = Some(deletion_guard.clone());
            }
            Fact::WritesEnded { existing, .. } | Fact::WritesHeld(existing) => {
                self.had_children |= *existing > 0;
            }
            Fact::ChildrenNotRetried => self.flapping.forget_children(),
            Fact::Resync(_) | Fact::Failed(_) | Fact::EventsReturned { .. } => {}
            // === children ===
            Fact::DryRunUnchanged(settled) => self.last_applied.remember(settled),
            Fact::DryRunDiffers(settled) => self.last_applied.differs(settled),
            Fact::WroteNothing { settled, .. } => {
                self.last_applied.remember(settled);
                self.forget_foreign(&settled.id);
            }
            Fact::Written(written) => self.learn_of_write(written),
            Fact::MayBeDeleted { child, .. } => self.last_applied.forget(child),
            Fact::Contested(contested) => self.last_applied.contest(contested.clone()),
            Fact::Foreign(foreign) => self.rare_if(true, |rare| {
                rare.foreign.insert(foreign.id.clone(), foreign.clone());
            }),
            Fact::NotForeign(child) => self.forget_foreign(child),
            Fact::RequestFailed { child, failure } => {
                if let Some(child) = child.as_ref().filter(|_| failure.is_throttled()) {
                    self.rare_if(true, |rare| rare.throttled.push(child.clone()));
                }
            }
            Fact::WaitedFor(stages) => self.rare_if(!stages.is_empty(), |rare| {
                rare.waited_for.retain(|stage, _| stages.contains(stage));
                for stage in stages {
                    rare.waited_for.entry(*stage).or_insert(at);
                }
            }),
            Fact::UpToDate(_) | Fact::Waits { .. } | Fact::RolledOut(_) | Fact::StageDue(_) => {}
            Fact::Unwatched | Fact::ConflictFound(_) => {}
            // === drift ===
            Fact::RivalFound { subject, why, rival } => {
                self.flapping.blame(subject, *why, rival.clone());
            }
            Fact::Repeated(repeat) => {
                self.flapping.again(&repeat.subject, repeat.why, &repeat.paths, now);
            }
            Fact::Flapping(..) => self.flapping.announced(),
            Fact::Slowed { deferred, .. } => {
                self.rare_if(deferred.is_some(), |rare| rare.deferred_wait = *deferred);
            }
            Fact::Drifted(..) => {}
            // === the parent of a decorator ===
            Fact::Decorated(Decorated { wanted, .. }) => {
                self.rare_if(true, |rare| rare.decorated = Some(*wanted));
            }
            Fact::DecorationHeld { in_status, held } => {
                self.rare_if(true, |rare| *rare.held(*in_status) = Some(held.clone()));
            }
            Fact::DecorationFree { in_status } => {
                self.rare_if(false, |rare| *rare.held(*in_status) = None);
            }
            Fact::Scaled { .. } | Fact::DecorationDelayed(_) => {}
            // === the status ===
            Fact::StatusUpToDate { desired, parent } => {
                self.status = *desired;
                self.parent = parent.clone().or_else(|| self.parent.take());
            }
            Fact::StatusSent { change, is_kept } => {
                let unkept = (!is_kept).then_some((*change, now));
                self.rare_if(unkept.is_some(), |rare| rare.unkept_status = unkept);
            }
            Fact::ReadyReturned | Fact::NotReady(_) | Fact::StatusWritten | Fact::StatusDue => {}
            Fact::StatusFailed(_) | Fact::StatusRefused { .. } | Fact::StatusBegan => {}
            Fact::Undeclared(_) | Fact::ParentHeld(_) | Fact::Overruled(_) => {}
        }
    }

    fn learn_of_plan(&mut self, Planned { finished_jobs, desired, .. }: &Planned) {
        self.rare_if(!finished_jobs.is_empty(), |rare| rare.finished_jobs = finished_jobs.clone());
        let Some(desired) = desired else { return };
        let last_applied = &self.last_applied;
        let stays = |id: &ChildId| desired.contains(id) && !last_applied.is_known(id);
        if let Some(rare) = &mut self.rare {
            rare.foreign.retain(|id, _| stays(id));
            rare.recreated.retain(|id, _| desired.contains(id));
        }
    }

    fn learn_of_write(&mut self, written: &Written) {
        self.had_children = true;
        match &written.left {
            Left::As(settled) => {
                self.last_applied.remember(settled);
                self.forget_foreign(&settled.id);
                self.rare_if(false, |rare| {
                    // Another desired state was written since, so the next refusal may have another cause.
                    if rare.recreated.get(&settled.id).is_some_and(|it| *it != settled.desired_hash)
                    {
                        rare.recreated.remove(&settled.id);
                    }
                });
            }
            Left::ToRecreate { immutable: Some(desired) } => {
                self.last_applied.forget(&written.child);
                self.rare_if(true, |rare| {
                    rare.recreated.insert(written.child.clone(), *desired);
                });
            }
            Left::Gone | Left::ToRecreate { immutable: None } => {
                self.last_applied.forget(&written.child);
            }
        }
        debug_assert!(written.verb != Verb::Unchanged, "`WroteNothing` reports that");
    }

    pub(super) fn forget_throttled(&mut self) {
        self.rare_if(false, |rare| rare.throttled.clear());
    }

    pub(super) fn shrink(&mut self) {
        self.announced.shrink();
        if self.rare.as_ref().is_some_and(|rare| rare.is_over()) {
            self.rare = None;
        }
    }

    fn forget_foreign(&mut self, child: &ChildId) {
        self.rare_if(false, |rare| {
            rare.foreign.remove(child);
        });
    }

    /// Changes the rare parts; allocates them only if `is_one`.
    fn rare_if(&mut self, is_one: bool, change: impl FnOnce(&mut Rare)) {
        let rare =
            if is_one { Some(self.rare.get_or_insert_default()) } else { self.rare.as_mut() };
        if let Some(rare) = rare {
            change(rare);
        }
    }
}

#[cfg(test)]
impl Memory {
    pub(crate) fn throttled(&self) -> &[ChildId] {
        &self.rare().throttled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Backoff;

    #[test]
    fn rare_parts_are_allocated_only_while_they_are_used() {
        assert!(size_of::<Memory>() <= 200, "{} bytes", size_of::<Memory>());
        let mut memory = Memory::default();
        let now = Now { monotonic: Instant::now(), wall: std::time::SystemTime::now() };
        let calm = Calm::new(Backoff { min: Duration::ZERO, max: Duration::ZERO });
        let mut sent = |change, is_kept| {
            memory.learn(&Fact::StatusSent { change, is_kept }, now, calm);
            memory.shrink();
            (memory.unkept_status().map(|(change, _)| change), memory.rare.is_some())
        };
        assert_eq!(sent(1, true), (None, false));
        assert_eq!(sent(1, false), (Some(1), true));
        assert_eq!(sent(2, true), (None, false));
    }
}
