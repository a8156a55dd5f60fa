//! What the facts so far mean for how a reconcile continues.

use super::{End, Fact, Failure, Held, Left, Pause, PausedBy, Wait};
use crate::{history::Verb, plan::WaitingReason};

/// What the facts so far mean for how a reconcile continues. Only the journal changes it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Progress {
    end: End,
    began_paused: Option<PausedBy>,
    paused: Option<Pause>,
    waits: bool,
    put_off: usize,
    writes: usize,
    created: bool,
    recreated: usize,
    deleted: usize,
    is_throttled: bool,
    failed_requests: usize,
    /// Of them, those that may succeed as they are.
    passing: usize,
    is_foreign: bool,
    /// Of a whole step: whether only something else can end it, and whether it rests.
    failed: Option<Severity>,
    quotes_others: bool,
    slowed: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Severity {
    is_stalled: bool,
    is_for_good: bool,
}

impl Progress {
    /// How far the parent has got.
    pub fn end(&self) -> End {
        self.end
    }

    /// Whether the parent is there and as it was, as far as is known.
    pub fn is_alive(&self) -> bool {
        self.end == End::Alive
    }

    /// What was paused when the reconcile began.
    pub fn began_paused(&self) -> Option<PausedBy> {
        self.began_paused
    }

    /// How many writes of children a pause holds.
    pub fn held_writes(&self) -> usize {
        match self.paused {
            Some(Pause { held: Held::Writes(held), .. }) => held,
            Some(_) | None => 0,
        }
    }

    /// Whether something waits.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// How many children that are desired are not there yet, or were not written, though nothing failed.
    pub fn put_off(&self) -> usize {
        self.put_off
    }

    /// Whether children were written.
    pub fn has_written(&self) -> bool {
        self.writes > 0
    }

    /// Whether children were created.
    pub fn has_created(&self) -> bool {
        self.created
    }

    /// How many children were deleted so that others come after them.
    pub fn recreated(&self) -> usize {
        self.recreated
    }

    /// How many children that were no longer wanted were deleted, or may have been.
    pub fn deleted(&self) -> usize {
        self.deleted
    }

    /// Whether the server has asked to be left alone for a while.
    pub fn is_throttled(&self) -> bool {
        self.is_throttled
    }

    /// How many requests failed.
    pub fn failed_requests(&self) -> usize {
        self.failed_requests
    }

    /// Whether a request has failed that may succeed as it is.
    pub fn has_passing_failures(&self) -> bool {
        self.passing > 0
    }

    /// Whether a child that is desired may not be there yet: its write has failed or was put off, or
    /// something is in the way.
    pub fn is_incomplete(&self) -> bool {
        self.put_off > 0 || self.failed_requests > 0 || self.is_foreign
    }

    /// Whether anything has failed.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some() || self.failed_requests > 0 || self.is_foreign
    }

    /// Whether what failed may succeed when it is tried again as it is.
    pub fn has_failed_for_now(&self) -> bool {
        match self.failed {
            Some(failed) => !failed.is_stalled,
            None => self.passing > 0,
        }
    }

    /// Whether nothing is tried again before the parent changes.
    pub fn has_failed_for_good(&self) -> bool {
        self.failed.is_some_and(|failed| failed.is_for_good)
    }

    /// Whether handlers or servers are quoted.
    pub fn quotes_others(&self) -> bool {
        self.quotes_others
    }

    /// How often something was written that is written too often.
    pub fn slowed(&self) -> Option<u32> {
        self.slowed
    }

    /// Whether nothing is left to write, or writing failed: the time to write the status.
    pub fn has_settled(&self) -> bool {
        !self.has_written() || self.has_failed() || self.slowed.is_some()
    }

    pub(super) fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Parent(end) => self.end = *end,
            Fact::BeganPaused(by) => self.began_paused = Some(*by),
            Fact::Paused(pause) => self.paused = Some(*pause),
            Fact::ParentWaits(_) | Fact::Judged { held: Some(_), .. } => self.waits = true,
            Fact::Failed(failure) => self.fail(failure),
            Fact::Lingering { expected, .. } => self.put_off += expected,
            Fact::Waits { why, is_put_off, .. } => self.wait(why, *is_put_off),
            Fact::Written(written) => {
                self.writes += 1;
                self.created |= written.verb == Verb::Created;
                self.recreated += usize::from(matches!(written.left, Left::ToRecreate { .. }));
                self.deleted += usize::from(matches!(written.left, Left::Gone));
            }
            Fact::MayBeDeleted { is_final, .. } => self.deleted += usize::from(*is_final),
            Fact::RequestFailed { failure, .. } => {
                self.failed_requests += 1;
                self.passing += usize::from(!failure.is_permanent());
                self.is_throttled |= failure.is_throttled();
                self.quotes_others = true;
            }
            Fact::StatusFailed(_) => self.quotes_others = true,
            Fact::Foreign(_) => self.is_foreign = true,
            Fact::Repeated(repeat) if repeat.times > 0 => {
                self.slowed = self.slowed.max(Some(repeat.times));
            }
            Fact::FinalizersRest(times) => self.slowed = self.slowed.max(Some(*times)),
            Fact::Slowed { now, .. } => self.slowed = *now,
            _ => {}
        }
    }

    fn fail(&mut self, failure: &Failure) {
        let (is_stalled, is_for_good) = (failure.is_stalled(), failure.is_for_good());
        self.failed = Some(Severity { is_stalled, is_for_good });
        self.quotes_others |= failure.quotes_others();
    }

    fn wait(&mut self, why: &Wait, is_put_off: bool) {
        self.put_off += usize::from(is_put_off);
        self.waits |= !matches!(why, Wait::Planned(WaitingReason::OnDelete { .. }));
    }
}
