//! What came of a run, and what the next run for the same parent needs to know.

use std::{
    fmt::Display,
    time::{Duration, SystemTime},
};

use super::{
    Failure, Held,
    failure::{ChildFailure, api_finished},
};
use crate::{
    cluster::ApiError,
    history::{Outcome, Verb, WriteRecord},
    operator::{ConflictPolicy, OperatorConfig},
    plan::{ChildId, ForeignChild, Interlock, Memos},
    schedule::Finished,
};

/// What a parent's runs remember from one to the next. Losing it costs a few requests, no more.
#[derive(Debug, Default)]
pub struct Memory {
    /// Children whose live state differs from what we apply, for ever.
    pub memos: Memos,
    /// Objects of others that stand where a child should be, as they were last seen.
    pub foreign: Vec<ForeignChild>,
    /// Children that were deleted because of an immutable field, each with the wish that asked for it.
    pub recreated: Vec<(ChildId, u64)>,
    /// What was last said of fields that others hold, so that it is not sent again.
    pub last_contested: Option<String>,
    /// Whether there was ever a child, so that a missing one may have been deleted.
    pub had_children: bool,
    /// Deletions that were too many; `None` before the first run.
    pub interlock: Option<Interlock>,
    /// The last Warning Event, so that it is not sent again for every retry.
    pub last_event: Option<(String, String)>,
}

/// How far a parent has got on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is there, as far as the run knows.
    Alive,
    /// It has changed since the run began: another run decides again.
    Outdated,
    /// Its handler has not finished finalizing it.
    Finalizing,
    /// It was finalized, and may go.
    Finalized,
    /// It was gone before the run began.
    Gone,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// When the run started.
    pub started: SystemTime,
    /// How long it took, without the wait for a permit.
    pub took: Duration,
    /// What the next run needs to know.
    pub memory: Memory,
    /// The writes of children that the server accepted.
    pub writes: Vec<WriteRecord>,
    /// How many children were as desired.
    pub unchanged: usize,
    /// Children that cannot be written yet, and why.
    pub waiting: Vec<String>,
    /// Children that differ and are left so, because their strategy or conflict policy says so.
    pub held: Vec<String>,
    /// What was not done because the parent is paused; `None` when it is not.
    pub paused: Option<Held>,
    /// What is not deleted because it is too much, in words.
    pub interlock: Option<String>,
    /// How many children that were no longer wanted were deleted.
    pub deleted: usize,
    /// When the handler wants to run again.
    pub resync: Option<Duration>,
    /// Whether the status was written.
    pub wrote_status: bool,
    /// Whether the status waits until the server publishes what it may hold.
    pub status_is_due: bool,
    /// How far the parent got.
    pub end: End,
    /// The failure of a whole step.
    failure: Option<Failure>,
    /// The failures of single writes.
    child_failures: Vec<ChildFailure>,
    foreign: Vec<ForeignChild>,
}

/// The longest wait for something that an event should end earlier.
const RECHECK: Duration = Duration::from_secs(10);

/// The longest wait for a person, who changes the parent, or until an operator may delete again.
const SLOW_RECHECK: Duration = Duration::from_mins(1);

/// A server publishes the schema of a new CRD about a second after it serves the type.
const SCHEMA_RECHECK: Duration = Duration::from_secs(1);

impl Report {
    pub(super) fn new(started: SystemTime, memory: Memory) -> Self {
        Self {
            started,
            took: Duration::ZERO,
            memory,
            writes: Vec::new(),
            unchanged: 0,
            waiting: Vec::new(),
            held: Vec::new(),
            paused: None,
            interlock: None,
            deleted: 0,
            resync: None,
            wrote_status: false,
            status_is_due: false,
            end: End::Alive,
            failure: None,
            child_failures: Vec::new(),
            foreign: Vec::new(),
        }
    }

    /// The parent is not there (any more): nothing was done.
    pub(super) fn gone(self) -> Self {
        Self { end: End::Gone, ..self }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }

    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    pub(super) fn child_failed(&mut self, what: &dyn Display, error: ApiError) {
        self.child_failures.push(ChildFailure { what: what.to_string(), error });
    }

    /// Whether a write has failed, or somebody else's object was in its way.
    pub(super) fn was_refused(&self) -> bool {
        !self.child_failures.is_empty() || !self.foreign.is_empty() || self.is_contested()
    }

    /// Whether a child is not written because others hold fields of it.
    pub(super) fn is_contested(&self) -> bool {
        let contested = self.memory.memos.contested();
        contested.iter().any(|child| child.policy == ConflictPolicy::Report)
    }

    /// Children that are not as desired, each with the reason.
    pub fn unsettled(&self) -> Vec<String> {
        self.waiting.iter().chain(&self.held).cloned().collect()
    }

    pub(super) fn found_foreign(&mut self, child: ForeignChild) {
        self.foreign.push(child);
    }

    pub(super) fn wrote(&mut self, id: &ChildId, verb: Verb, paths: Vec<String>) {
        self.writes.push(WriteRecord { child: id.to_string(), verb, paths });
    }

    pub(super) fn wait(&mut self, id: &ChildId, why: &dyn Display) {
        self.waiting.push(format!("{id}: {why}"));
    }

    /// Moves the failures of single writes to where the failure of a run is looked for.
    pub(super) fn close(&mut self) {
        self.memory.foreign.clone_from(&self.foreign);
        if self.failure.is_some() {
            return;
        }
        if !self.child_failures.is_empty() {
            self.failure = Some(Failure::Api(std::mem::take(&mut self.child_failures)));
        } else if !self.foreign.is_empty() {
            self.failure = Some(Failure::Foreign(std::mem::take(&mut self.foreign)));
        }
    }

    /// Why the run failed.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether nothing is left to write, or writing failed: the time to write the status.
    pub fn has_settled(&self) -> bool {
        self.writes.is_empty() || self.failure.is_some()
    }

    /// What the run means for those who look.
    pub fn outcome(&self, config: &OperatorConfig) -> Outcome {
        match (self.end, &self.failure) {
            (End::Finalized, _) => Outcome::Finalized,
            (End::Gone, _) => Outcome::Gone,
            (End::Outdated | End::Finalizing, None) => Outcome::Waiting,
            (End::Alive | End::Outdated | End::Finalizing, Some(failure)) => Outcome::Failed {
                reason: failure.reason().to_owned(),
                message: failure.to_string(),
            },
            (End::Alive, None) if self.paused.is_some() => Outcome::Paused,
            (End::Alive, None) => match self.finished(config) {
                Finished::Wrote => Outcome::Wrote,
                Finished::Recheck { .. } => Outcome::Waiting,
                Finished::Settled { .. } if self.is_contested() => Outcome::Waiting,
                Finished::Settled { .. }
                | Finished::Failed
                | Finished::FailedUntil { .. }
                | Finished::Throttled { .. }
                | Finished::FailedForGood => Outcome::Synced,
            },
        }
    }

    /// What the run means for the schedule.
    pub fn finished(&self, config: &OperatorConfig) -> Finished {
        match &self.failure {
            Some(failure) => self.failed(failure, config.max_error_backoff),
            None if !self.writes.is_empty() => Finished::Wrote,
            None if self.end == End::Outdated => Finished::Recheck { after: RECHECK },
            // The time that the handler chose, however long.
            None if self.end == End::Finalizing => {
                Finished::Recheck { after: self.resync.unwrap_or(RECHECK) }
            }
            None if self.status_is_due => Finished::Recheck { after: SCHEMA_RECHECK },
            // Without the annotation it is another parent, which wakes it.
            None if self.paused.is_some() => Finished::Settled { resync: self.resync },
            None if self.interlock.is_some() && self.waiting.len() == 1 => {
                Finished::Recheck { after: self.resync.unwrap_or(SLOW_RECHECK).min(SLOW_RECHECK) }
            }
            None if !self.waiting.is_empty() => {
                Finished::Recheck { after: self.resync.unwrap_or(RECHECK).min(RECHECK) }
            }
            None => Finished::Settled { resync: self.resync },
        }
    }

    /// A failure that the status could not tell is tried again, however permanent, unless the
    /// server has asked for patience.
    fn failed(&self, failure: &Failure, longest: Duration) -> Finished {
        let status = || api_finished(&self.child_failures, longest);
        match failure.finished(longest) {
            throttled @ Finished::Throttled { .. } => throttled,
            finished if !self.status_is_due => finished,
            _ => match status() {
                throttled @ Finished::Throttled { .. } => throttled,
                _ => Finished::Failed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::K8sType;

    #[test]
    fn finalize_is_called_again_after_the_time_that_it_chose() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let after = Duration::from_hours(1);
        let mut report = Report::new(SystemTime::now(), Memory::default());
        report.end = End::Finalizing;
        report.resync = Some(after);
        report.waiting.push("still finalizing".to_owned());
        report.status_is_due = true;
        assert_eq!(report.finished(&config), Finished::Recheck { after });
        assert_eq!(report.outcome(&config), Outcome::Waiting);
    }
}
