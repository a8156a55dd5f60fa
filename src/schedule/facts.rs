//! The inputs and actions of a schedule: values only. The table of the module defines the transitions.

use std::time::{Duration, Instant};

use super::Priority;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A change that the next reconcile must see.
    Touched(Trigger),
    /// A related object changed that many parents read: they are reconciled one after the other, this one
    /// after this time.
    Spread { after: Duration },
    /// The timer of the last [`Action::WakeAt`] fired.
    TimerFired,
    /// The permit that [`Action::Enqueue`] asked for is free.
    Admitted,
    /// The reconcile wrote children, and the next one began at once with the same permit.
    Continued {
        /// Whether the next one sees all changes so far.
        saw_all: bool,
    },
    /// The reconcile of the last [`Action::Reconcile`], or the last that continued it, ended.
    Finished(Finished),
    /// The reconcile that ends next found its parent paused, for this time if the pause ends by itself.
    PauseEnds { after: Option<Duration> },
    /// The parent is gone.
    Retired,
}

/// The strength of a reason to reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trigger {
    /// Listed at the start of the process: no change is known.
    Listed,
    /// A child or the parent's status changed: an error backoff continues, and the status follows.
    ChildOrStatus,
    /// A child is gone: an error backoff ends if the failed reconcile waits for that.
    ChildGone,
    /// An object that made the last reconcile fail has changed: its backoff ends, unless that object is
    /// flapping.
    Awaited,
    /// An object that the parent reads and does not own has changed: an error backoff ends, as it may be the
    /// reason of the error.
    Related,
    /// The parent itself is new or has changed (spec, metadata), or something outside of Kubernetes has: an
    /// error backoff ends.
    Parent,
    /// A user requested a reconcile: an error backoff ends, and changes are not collected first.
    Asked,
    /// The parent is being deleted.
    Deletion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Nothing is left to do; reconcile again after the resync of the handler.
    Settled { resync: Option<Duration> },
    /// Children were written: reconcile again on the replies.
    Wrote,
    /// A child was deleted to be recreated, and none in the previous reconcile: reconcile again at once, even
    /// after many reconciles in a row that wrote children, so that it is missing only briefly.
    Recreating,
    /// It waits for another change; recheck after this time at the latest.
    Recheck { after: Duration },
    /// Nothing is left to do; recheck after this time whether the flapping has stopped.
    Calming { after: Duration },
    /// A flapping object was written: the next reconcile is delayed ever longer, whatever happens to the
    /// children.
    Slowed {
        /// How often in a row.
        times: u32,
        at_most: Duration,
    },
    /// It failed: retry with backoff.
    Failed,
    /// It failed, and the deletion of a child may fix it, which ends the wait.
    FailedUntilGone {
        /// Whether the failure is transient: retry with backoff.
        is_passing: bool,
        at_most: Duration,
    },
    /// It failed, and wrote a flapping object: the longer of both waits. The deletion of a child does not end
    /// it, as that may be part of the flapping.
    FailedSlowed {
        /// How often in a row.
        times: u32,
        /// The minimal delay of the failure, if not the backoff.
        at_least: Duration,
        at_most: Duration,
    },
    /// It failed, and the handler or the kind of failure sets the delay. Jitter is added.
    FailedUntil { after: Duration },
    /// The API server is throttling: nothing is sent for this parent before the time has passed, whatever
    /// happens to it.
    Throttled { after: Duration },
    /// It failed in a way that only a change of the parent can fix.
    FailedForGood,
}

impl Finished {
    /// Whether something was not done that was to be done.
    pub(crate) fn has_failed(self) -> bool {
        match self {
            Self::Settled { .. }
            | Self::Wrote
            | Self::Recreating
            | Self::Recheck { .. }
            | Self::Calming { .. }
            | Self::Slowed { .. } => false,
            Self::Failed
            | Self::FailedUntilGone { .. }
            | Self::FailedSlowed { .. }
            | Self::FailedUntil { .. }
            | Self::Throttled { .. }
            | Self::FailedForGood => true,
        }
    }

    /// Whether it failed, and the reconciles for changes of children go on meanwhile.
    pub(crate) fn is_followed(self) -> bool {
        matches!(self, Self::Failed | Self::FailedUntil { .. } | Self::FailedUntilGone { .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Clear the timer and queue for a permit of the operator.
    Enqueue(Priority),
    /// Raise the priority in the queue.
    Raise(Priority),
    Reconcile {
        /// How many reconciles directly before this one wrote children.
        after_writes: u32,
    },
    /// Set the timer; it replaces the last one.
    WakeAt(Wake),
    /// Clear the timer; another input will wake the parent.
    Rest,
    /// Stop: the parent is gone, and no reconcile is in flight.
    Stop,
    /// Change nothing.
    Continue,
}

/// When and why a parent is reconciled next without a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) at: Instant,
    pub(crate) why: WakeReason,
}

/// Why a timer is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The handler asked for a resync.
    Resync,
    /// A reconcile failed.
    Retry,
    /// The API server is throttling.
    Throttled,
    /// A reconcile waits for another change.
    Recheck,
    /// Reconciles in a row wrote children, and none found them up to date.
    Unsettled,
    /// A reconcile wrote a flapping object.
    Slowed,
    /// A reconcile checks whether the flapping has stopped.
    Calming,
    /// Something changed, and more changes may follow.
    Debounce,
    /// A related object changed that many parents read.
    Spread,
    /// The pause of the parent ends by itself.
    PauseEnds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Idle,
    Waiting(Wake),
    /// Failed for good: not retried until the parent changes.
    Resting,
    Queued(Priority),
    Running {
        /// How urgent it was.
        priority: Priority,
        /// The strongest trigger that arrived meanwhile.
        dirty: Option<Trigger>,
        /// Whether the parent was deleted meanwhile.
        retired: bool,
    },
    Stopped,
}

impl From<Trigger> for Priority {
    fn from(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Deletion => Self::Deletion,
            Trigger::Parent | Trigger::Asked => Self::Change,
            Trigger::ChildOrStatus | Trigger::ChildGone | Trigger::Awaited => Self::FollowUp,
            Trigger::Related | Trigger::Listed => Self::Background,
        }
    }
}

impl From<WakeReason> for Priority {
    fn from(why: WakeReason) -> Self {
        match why {
            // Collected changes raise it.
            WakeReason::Resync
            | WakeReason::Calming
            | WakeReason::Debounce
            | WakeReason::Spread => Self::Background,
            WakeReason::Retry
            | WakeReason::Throttled
            | WakeReason::Unsettled
            | WakeReason::Slowed
            | WakeReason::Recheck => Self::FollowUp,
            WakeReason::PauseEnds => Self::Change,
        }
    }
}
