//! The facts of a reconcile, in the past tense.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    End, Failure, NotReady, ParentConflict, Pause, PausedBy, RequestFailure, ReturnedEvent,
    RolledOut, Unapproved, Wait,
};
use crate::{
    history::Verb,
    object::{K8sType, ResourceVersion, Uid},
    operator,
    plan::{
        ChildId, Contested, DeletionGuard, FinishedJobs, FlappingReason, ForeignChild,
        HeldDecoration, Rewrite, RewriteReason, Settled, Subject, TerminatingChildren,
        UndeclaredField,
    },
};

#[derive(Debug)]
pub(crate) enum Fact {
    // === the parent ===
    Began(ResourceVersion),
    /// The state of the parent is known.
    Parent(End),
    /// The parent or the operator was paused when the reconcile began.
    BeganPaused(PausedBy),
    /// A pause holds something. It replaces earlier facts of this kind.
    Paused(Pause),
    /// More is known of the pause than that it is there.
    PauseKnown(PausedBy, Arc<operator::Pause>),
    /// A step of the parent itself waits.
    ParentWaits(String),

    // === the handler ===
    Answered {
        /// Whether with an error, or too late.
        has_failed: bool,
        /// The generation, -1 for a type that has none.
        generation: i64,
        is_deleting: bool,
    },
    Resync(Duration),
    /// The handler returned Events about the parent.
    EventsReturned {
        /// Whether for an error of its own.
        of_error: bool,
        events: Vec<ReturnedEvent>,
    },
    /// The reconcile failed as a whole.
    Failed(Failure),

    // === the plan ===
    Planned(Planned),
    /// The terminating children were found.
    TerminatingChildren {
        /// Since when each terminates.
        terminating: TerminatingChildren,
        /// How many of them are desired and expected to be recreated soon.
        expected: usize,
        /// Those that finalizers of others have kept for minutes.
        blocked: Vec<ChildId>,
    },
    /// The deletions of the plan were judged.
    Judged {
        /// The state for the next judgement.
        deletion_guard: DeletionGuard,
        held: Option<Box<Unapproved>>,
    },
    /// All writes and deletions have ended.
    WritesEnded {
        /// The number of children at the time of the plan.
        existing: usize,
        /// The types whose cache may be incomplete.
        unknown: BTreeSet<K8sType>,
    },

    /// A pause held all writes. With the number of children.
    WritesHeld(usize),

    // === children ===
    /// A live read found a child up to date.
    UpToDate(ChildId),
    /// A dry run showed that an apply would not change a child.
    DryRunUnchanged(Settled),
    /// A dry run showed that an apply would change a child.
    DryRunDiffers(Settled),
    /// A child is not written or deleted now.
    Waits {
        child: ChildId,
        why: Wait,
        /// Whether it is desired and may be missing.
        is_put_off: bool,
    },
    /// How far a rollout is.
    RolledOut(RolledOut),
    /// Children wait for these stages.
    WaitedFor(BTreeSet<usize>),
    /// A stage that is waited for will be late after this time.
    StageDue(Duration),
    Written(Written),
    /// The server accepted a write and found nothing to change.
    WroteNothing {
        /// The paths where the child seemed to differ.
        paths: Vec<String>,
        /// The child as the server returned it.
        settled: Settled,
    },
    /// A deletion was not answered and may have been carried out.
    MayBeDeleted {
        child: ChildId,
        /// Whether the child is not recreated.
        is_final: bool,
    },
    RequestFailed {
        child: Option<ChildId>,
        failure: RequestFailure,
    },
    Foreign(ForeignChild),
    /// The object with the name of a child is not known to be foreign any more.
    NotForeign(ChildId),
    /// An object is not modified and not covered by a watch.
    Unwatched,
    /// Others hold fields of a child, or the object of its name.
    ConflictFound(ChildId),
    /// Others keep these fields.
    Contested(Contested),

    // === drift ===
    /// A child that left the cache exists, because someone changed its labels: how it is written again.
    Drifted(ChildId, Rewrite),
    /// The rival of a repeated write is known.
    RivalFound {
        subject: Subject,
        /// Why it is written again.
        why: FlappingReason,
        /// The field manager.
        rival: Option<String>,
    },
    /// A write was repeated.
    Repeated(Repeat),
    FinalizersChanged,
    /// A change of the finalizers is delayed, as they changed this often.
    FinalizersDelayed(u32),
    /// The wait for repeated writes: now, or deferred until a recreated child exists.
    Slowed {
        /// How often, for a wait now.
        now: Option<u32>,
        deferred: Option<u32>,
    },
    /// No child is written before the parent changes.
    ChildrenNotRetried,
    /// Repeated writes became too frequent: reason and message.
    Flapping(FlappingReason, String),

    // === the parent of a decorator ===
    /// Something was put on the parent, or removed.
    Decorated(Decorated),
    /// The parent was scaled.
    Scaled {
        parent: ChildId,
        replicas: i32,
    },
    /// What was to be put there is held by others, in the status or elsewhere.
    DecorationHeld {
        in_status: bool,
        held: Box<HeldDecoration>,
    },
    /// Nothing of it is.
    DecorationFree {
        in_status: bool,
    },
    /// It is put there later, as others have removed it this often.
    DecorationDelayed(u32),

    // === the status ===
    /// The handler returned a condition `Ready`, which decides whether the parent is ready.
    ReadyReturned,
    /// The parent is not ready.
    NotReady(NotReady),
    StatusUpToDate {
        /// A hash of the desired status.
        desired: Option<u64>,
        parent: Option<ResourceVersion>,
    },
    /// A change of the status was sent.
    StatusSent {
        change: u64,
        /// Whether the server kept any of it.
        is_kept: bool,
    },
    StatusWritten,
    StatusDue,
    StatusFailed(RequestFailure),
    /// The status of a failed reconcile was refused.
    StatusRefused {
        /// Whether the conditions were written.
        shows_conditions: bool,
        failure: RequestFailure,
    },
    /// The status write began.
    StatusBegan,
    /// Fields that the type of the parent does not declare were omitted.
    Undeclared(Vec<UndeclaredField>),
    /// Others own fields of the parent with other values.
    ParentHeld(ParentConflict),
    /// The handler returned fields of the framework; the message.
    Overruled(&'static str),
}

#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) up_to_date: usize,
    /// The desired children that are terminating.
    pub(crate) replacing: Vec<Uid>,
    /// The desired Jobs that have finished and have a TTL.
    pub(crate) finished_jobs: FinishedJobs,
    /// The plan for each child, if it is asked for.
    pub(crate) children: Option<Vec<(ChildId, PlannedAs)>>,
    /// The desired children, if they are asked for.
    pub(crate) desired: Option<BTreeSet<ChildId>>,
}

/// What was put on a parent.
#[derive(Debug)]
pub(crate) struct Decorated {
    pub(crate) parent: ChildId,
    /// The JSON paths that differed.
    pub(crate) paths: Vec<String>,
    /// A hash of what is there now.
    pub(crate) wanted: u64,
}

/// The plan for a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlannedAs {
    UpToDate,
    /// It is to be written.
    Wanted,
    Undesired,
}

#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) child: ChildId,
    pub(crate) verb: Verb,
    /// The JSON paths that differed.
    pub(crate) paths: Vec<String>,
    /// Why it was written again, if it was.
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) left: Left,
}

/// The state of a child after a write.
#[derive(Debug)]
pub(crate) enum Left {
    /// Applied.
    As(Settled),
    /// Deleted for good.
    Gone,
    /// Deleted, to be recreated.
    ToRecreate {
        /// The desired hash, if it was deleted for an immutable field.
        immutable: Option<u64>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub(crate) subject: Subject,
    /// Why.
    pub(crate) why: FlappingReason,
    pub(crate) paths: Vec<String>,
    /// The field manager that changed it, according to the cache.
    pub(crate) changed_by: Option<String>,
    pub(crate) times: u32,
}

impl Written {
    /// Whether it reverts a change by someone else.
    pub(crate) fn is_drift(&self) -> bool {
        self.rewrite.as_ref().is_some_and(|rewrite| rewrite.why == RewriteReason::Drift)
    }
}
