//! What a parent's reconciles remember from one to the next. There is one for each of very many parents,
//! so that what most of them lack takes no room. It changes by [`Memory::learn`] alone, but for the
//! [`LastApplied`] of a plan, which is too big to be copied.

mod handler_failures;
mod rare;

use std::{
    collections::BTreeMap,
    sync::LazyLock,
    time::{Duration, Instant},
};

pub use handler_failures::HandlerFailures;
use rare::Rare;

use crate::{
    history::Verb,
    journal::{Fact, Left, Written},
    object::ResourceVersion,
    plan::{
        Calm, ChildId, DeletionGuard, Flapping, ForeignChild, LastApplied, TerminatingChildren,
    },
    report::{Announced, Standing},
};

/// What a parent's reconciles remember from one to the next. Losing it costs a few requests, no more.
#[derive(Debug, Default)]
pub struct Memory {
    last_applied: LastApplied,
    handler_failures: HandlerFailures,
    /// Whether there was ever a child, so that a missing one may have been deleted.
    had_children: bool,
    /// Deletions that were too many; `None` before the first reconcile.
    deletion_guard: Option<DeletionGuard>,
    flapping: Flapping,
    /// Whether the finalizers of the parent were changed before.
    changed_finalizers: bool,
    /// The version at which the last reconcile left the parent.
    parent: Option<ResourceVersion>,
    /// What the status was to say, see [`status_wish`](crate::plan::status_wish).
    status: Option<u64>,
    /// What was announced by Events: the matter of `report`.
    announced: Announced,
    rare: Option<Box<Rare>>,
}

/// Of those who have none.
static NOTHING_RARE: LazyLock<Rare> = LazyLock::new(Rare::default);

// === what the rooms look at ===

impl Memory {
    /// How each child was left.
    pub fn last_applied(&self) -> &LastApplied {
        &self.last_applied
    }

    /// How often in a row the handler has failed.
    pub fn handler_failures(&self) -> HandlerFailures {
        self.handler_failures
    }

    pub(crate) fn had_children(&self) -> bool {
        self.had_children
    }

    /// Deletions that were too many; `None` before the first reconcile.
    pub fn deletion_guard(&self) -> Option<&DeletionGuard> {
        self.deletion_guard.as_ref()
    }

    /// What is written again and again.
    pub fn flapping(&self) -> &Flapping {
        &self.flapping
    }

    pub(super) fn changed_finalizers(&self) -> bool {
        self.changed_finalizers
    }

    pub(crate) fn parent(&self) -> Option<&ResourceVersion> {
        self.parent.as_ref()
    }

    pub(crate) fn status(&self) -> Option<u64> {
        self.status
    }

    /// What was announced by Events.
    pub fn announced(&self) -> &Announced {
        &self.announced
    }

    /// The same, for `report` to bring up to date.
    pub fn announced_mut(&mut self) -> &mut Announced {
        &mut self.announced
    }

    /// Objects of others that stand where a child should be.
    pub fn foreign(&self) -> &BTreeMap<ChildId, ForeignChild> {
        &self.rare().foreign
    }

    pub(crate) fn recreated(&self) -> &BTreeMap<ChildId, u64> {
        &self.rare().recreated
    }

    pub(super) fn is_throttled(&self, child: &ChildId) -> bool {
        self.rare().throttled.contains(child)
    }

    /// For what the wait comes when a recreated child is there again.
    pub fn owed_wait(&self) -> Option<u32> {
        self.rare().owed_wait
    }

    pub(super) fn terminating(&self) -> &TerminatingChildren {
        &self.rare().terminating
    }

    pub(super) fn unkept_status(&self) -> Option<(u64, Instant)> {
        self.rare().unkept_status
    }

    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING_RARE)
    }
}

impl Memory {
    /// What a report needs of it, about a parent that goes or not.
    pub fn standing(&self, calms_in: Option<Duration>, is_leaving: bool) -> Standing<'_> {
        Standing {
            last_applied: &self.last_applied,
            flapping: &self.flapping,
            deletion_guard: self.deletion_guard.as_ref(),
            foreign: self.foreign(),
            owes_wait: self.owed_wait().is_some(),
            calms_in,
            is_leaving,
        }
    }
}

impl Memory {
    /// What a preview needs of it: beside a reconcile there is no more than a copy.
    pub fn for_preview(&self) -> Self {
        let rare = Rare { foreign: self.foreign().clone(), ..Rare::default() };
        Self {
            last_applied: self.last_applied.clone(),
            handler_failures: self.handler_failures,
            rare: Some(Box::new(rare)),
            ..Self::default()
        }
    }
}

// === how it changes ===

impl Memory {
    /// Takes what a plan knows of the children.
    pub(super) fn take_last_applied(&mut self, last_applied: LastApplied) {
        self.last_applied = last_applied;
    }

    /// Learns from a fact. `calm` says how long what was written again counts.
    pub(super) fn learn(&mut self, fact: &Fact, now: Instant, calm: Calm) {
        self.learn_of_children(fact);
        self.learn_of_drift(fact, now, calm);
        self.handler_failures.learn(fact);
        match fact {
            Fact::Judged { deletion_guard, .. } => {
                self.deletion_guard = Some(deletion_guard.clone());
            }
            Fact::StatusSaid { wish, parent } => {
                self.status = *wish;
                self.parent = parent.clone().or_else(|| self.parent.take());
            }
            Fact::StatusSent { change, is_kept } => {
                let unkept = (!is_kept).then_some((*change, now));
                self.rare_if(unkept.is_some(), |rare| rare.unkept_status = unkept);
            }
            _ => {}
        }
    }

    fn learn_of_children(&mut self, fact: &Fact) {
        match fact {
            Fact::Planned(planned) => {
                if let Some(desired) = &planned.desired {
                    let last_applied = &self.last_applied;
                    let stays = |id: &ChildId| desired.contains(id) && !last_applied.is_known(id);
                    self.rare.iter_mut().for_each(|rare| {
                        rare.foreign.retain(|id, _| stays(id));
                        rare.recreated.retain(|id, _| desired.contains(id));
                    });
                }
            }
            Fact::Explained(settled) => self.last_applied.remember(settled),
            Fact::WroteNothing { settled, .. } => {
                self.last_applied.remember(settled);
                self.found_way(&settled.id);
            }
            Fact::Differs(settled) => self.last_applied.differs(settled),
            Fact::Written(written) => self.learn_of_write(written),
            Fact::MayBeDeleted { child, .. } => self.last_applied.forget(child),
            Fact::Contested(contested) => self.last_applied.contest(contested.clone()),
            Fact::Foreign(foreign) => {
                self.rare_if(true, |rare| {
                    rare.foreign.insert(foreign.id.clone(), foreign.clone());
                });
            }
            Fact::FoundWay(child) => self.found_way(child),
            Fact::RequestFailed { child: Some(child), failure } if failure.is_throttled() => {
                self.rare_if(true, |rare| rare.throttled.push(child.clone()));
            }
            Fact::TerminatingChildren { terminating, .. } => {
                let is_one = !terminating.is_empty();
                self.rare_if(is_one, |rare| rare.terminating = terminating.clone());
            }
            Fact::WritesEnded { existing, .. } | Fact::WritesHeld(existing) => {
                self.had_children |= *existing > 0;
            }
            _ => {}
        }
    }

    fn learn_of_write(&mut self, written: &Written) {
        self.had_children = true;
        match &written.left {
            Left::As(settled) => {
                self.last_applied.remember(settled);
                self.found_way(&settled.id);
                self.rare_if(false, |rare| {
                    // Should another one be desired again, it may be refused for what was written since.
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
        debug_assert!(written.verb != Verb::Unchanged, "that is told by another fact");
    }

    fn learn_of_drift(&mut self, fact: &Fact, now: Instant, calm: Calm) {
        match fact {
            Fact::Began(version) => {
                self.parent = Some(version.clone());
                self.flapping.forget_before(now, calm);
            }
            Fact::RivalFound { subject, why, rival } => {
                self.flapping.blame(subject, *why, rival.clone());
            }
            Fact::Repeated(repeat) => {
                self.flapping.again(&repeat.subject, repeat.why, &repeat.paths, now);
            }
            Fact::FinalizersChanged => {
                self.changed_finalizers = true;
                self.flapping.forget_before(now, calm);
            }
            Fact::ChildrenRest => self.flapping.forget_children(),
            Fact::Flapping(..) => self.flapping.announced(),
            Fact::Slowed { owed, .. } => {
                let owed = *owed;
                self.rare_if(owed.is_some(), |rare| rare.owed_wait = owed);
            }
            _ => {}
        }
    }

    /// The server no longer asks for patience.
    pub(super) fn forget_throttled(&mut self) {
        self.rare_if(false, |rare| rare.throttled.clear());
    }

    /// Takes no room for what is over.
    pub(super) fn shrink(&mut self) {
        self.announced.shrink();
        if self.rare.as_ref().is_some_and(|rare| rare.is_over()) {
            self.rare = None;
        }
    }

    fn found_way(&mut self, child: &ChildId) {
        self.rare_if(false, |rare| {
            rare.foreign.remove(child);
        });
    }

    /// Changes what is rare, where there is something to put in or something that may have to go.
    fn rare_if(&mut self, is_one: bool, change: impl FnOnce(&mut Rare)) {
        let rare =
            if is_one { Some(self.rare.get_or_insert_default()) } else { self.rare.as_mut() };
        if let Some(rare) = rare {
            change(rare);
        }
    }
}

#[cfg(test)]
use crate::schedule::Backoff;

#[cfg(test)]
impl Memory {
    /// As if a fact had been learnt just now.
    pub(crate) fn told(&mut self, fact: &Fact) {
        let backoff = Backoff { min: Duration::ZERO, max: Duration::from_mins(10) };
        self.learn(fact, Instant::now(), Calm::new(backoff));
    }

    /// As if nothing were known of the children.
    pub(crate) fn forget_last_applied(&mut self) {
        self.last_applied = LastApplied::default();
    }

    /// As if children had begun to go so much earlier.
    pub(crate) fn age(&mut self, by: Duration) {
        self.rare_if(false, |rare| rare.terminating.age(by));
    }

    /// The children at which the server asked for patience.
    pub(crate) fn throttled(&self) -> &[ChildId] {
        &self.rare().throttled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_takes_room_only_while_there_is_some() {
        assert!(size_of::<Memory>() <= 200, "{} bytes", size_of::<Memory>());
        let (mut memory, now) = (Memory::default(), Instant::now());
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
