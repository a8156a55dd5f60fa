//! What a schedule is told, and what it answers: values only. What follows from what is in the
//! table of the module.

use std::time::{Duration, Instant};

use super::Priority;

/// What happened to a parent, as a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Something that the next reconcile should see has changed.
    Touched(Trigger),
    /// The timer of the last [`Action::WakeAt`] went off.
    TimerFired,
    /// The place that [`Action::Enqueue`] asked for is free.
    Admitted,
    /// The reconcile wrote children, and the next one began at once on the place that it had.
    WentOn {
        /// Whether that saw all that had changed until then.
        saw_all: bool,
    },
    /// The reconcile of the last [`Action::Reconcile`], or the last that went on from it, ended.
    Finished(Finished),
    /// The parent is gone.
    Retired,
}

/// How strong a reason to run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// It was there when the process started: nothing is known to have changed.
    Listed,
    /// A child changed, or the parent's status did: an error backoff is not cut short.
    ChildOrStatus,
    /// A child is gone: an error backoff is over if the reconcile that failed waits for that.
    ChildGone,
    /// An object because of which the last reconcile failed has changed: its backoff is over, unless that object
    /// is what somebody writes again and again.
    Awaited,
    /// The parent itself is new or has changed (spec, metadata): an error backoff is over.
    Parent,
    /// Somebody asked for a reconcile: an error backoff is over, and nothing is collected first.
    Asked,
    /// The parent is being deleted.
    Deletion,
}

/// How a reconcile ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Nothing is left to do; run again after the time that the handler chose.
    Settled {
        /// The handler's choice.
        resync: Option<Duration>,
    },
    /// Children were written: run again on what the replies said.
    Wrote,
    /// A child was deleted to be created anew, and none in the reconcile before: run again at once, however
    /// many runs in a row wrote children, so that it is away no longer than it has to be.
    Recreating,
    /// Something has to happen elsewhere first; look again after this time at the latest.
    Recheck {
        /// The time.
        after: Duration,
    },
    /// Nothing is left to do; look again after this time, when what used to be changed back may
    /// have come to rest.
    Calming {
        /// The time.
        after: Duration,
    },
    /// Something was written that is written again and again: whatever happens to the children, the
    /// next look waits, ever longer.
    Slowed {
        /// How often in a row.
        times: u32,
        /// The longest wait.
        at_most: Duration,
    },
    /// It failed: retry with backoff.
    Failed,
    /// It failed, and the end of a child may mend it, which is to end the wait.
    FailedUntilGone {
        /// Whether the failure may pass: retry with backoff.
        is_passing: bool,
        /// The longest wait.
        at_most: Duration,
    },
    /// It failed, and wrote what is written again and again: the longer of both waits, which the end of
    /// no child ends, as that may be what somebody makes again and again.
    FailedSlowed {
        /// How often in a row.
        times: u32,
        /// What the failure has to wait for at the least, if not for the backoff.
        at_least: Duration,
        /// The longest wait.
        at_most: Duration,
    },
    /// It failed, and the handler or the kind of failure says when to retry: then or a little later, as
    /// others may have been told the same.
    FailedUntil {
        /// The time to wait.
        after: Duration,
    },
    /// The API server asked for less: nothing is sent for this parent before the time is over,
    /// whatever happens to it.
    Throttled {
        /// What the server asked for.
        after: Duration,
    },
    /// It failed in a way that only a change of the parent can mend.
    FailedForGood,
}

/// What to do now, as an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Clear the timer and wait for a place among the runs of the operator.
    Enqueue(Priority),
    /// Go on waiting for a place, more urgently.
    Raise(Priority),
    /// Start a reconcile.
    Reconcile {
        /// How many reconciles directly before this one wrote children.
        after_writes: u32,
    },
    /// Set the one timer, instead of any other.
    WakeAt(Wake),
    /// Clear the timer; something else will wake the parent.
    Rest,
    /// End: the parent is gone and nothing runs.
    Stop,
    /// Change nothing.
    Continue,
}

/// When and why a parent runs again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// When.
    pub at: Instant,
    /// Why.
    pub why: WakeReason,
}

/// Why a timer is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The handler asked for it.
    Resync,
    /// A reconcile failed.
    Retry,
    /// A reconcile failed because the API server asked for less.
    Throttled,
    /// A reconcile waits for something to happen elsewhere.
    Recheck,
    /// Runs in a row wrote children, and none found them as desired.
    Unsettled,
    /// A reconcile wrote what is written again and again.
    Slowed,
    /// A reconcile looks whether what used to be changed back has come to rest.
    Calming,
    /// Something changed, and more changes may follow.
    Debounce,
}

/// Where a parent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing to do.
    Idle,
    /// A timer is set.
    Waiting(Wake),
    /// Failed for good: rests until the parent changes.
    Resting,
    /// It is to run, and waits for a place.
    Queued(Priority),
    /// A reconcile is under way.
    Running {
        /// How urgent it was.
        priority: Priority,
        /// The strongest reason to run again that arrived meanwhile.
        dirty: Option<Trigger>,
        /// Whether the parent went meanwhile.
        retired: bool,
    },
    /// Ended.
    Stopped,
}

impl From<Trigger> for Priority {
    fn from(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Deletion => Self::Deletion,
            Trigger::Parent | Trigger::Asked => Self::Change,
            Trigger::ChildOrStatus | Trigger::ChildGone | Trigger::Awaited => Self::FollowUp,
            Trigger::Listed => Self::Background,
        }
    }
}

impl From<WakeReason> for Priority {
    fn from(why: WakeReason) -> Self {
        match why {
            // What was collected raises it.
            WakeReason::Resync | WakeReason::Calming | WakeReason::Debounce => Self::Background,
            WakeReason::Retry
            | WakeReason::Throttled
            | WakeReason::Unsettled
            | WakeReason::Slowed
            | WakeReason::Recheck => Self::FollowUp,
        }
    }
}
