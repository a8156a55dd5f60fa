//! What can happen in a reconcile, in the past tense.

use std::{collections::BTreeSet, time::Duration};

use super::{End, Failure, Pause, PausedBy, RequestFailure, Wait};
use crate::{
    history::Verb,
    object::{K8sType, ResourceVersion, Uid},
    plan::{
        ChildId, Contested, DeletionGuard, FlappingReason, ForeignChild, HeldDeletions, Rewrite,
        RewriteReason, Settled, Subject, TerminatingChildren, UndeclaredField,
    },
};

/// Something that happened.
#[derive(Debug)]
pub enum Fact {
    // === the parent ===
    /// The reconcile began with this version of it.
    Began(ResourceVersion),
    /// It got so far on its way.
    Parent(End),
    /// It, or the operator, was paused when the reconcile began.
    BeganPaused(PausedBy),
    /// Something is not done because of a pause: what was said of that before counts no more.
    Paused(Pause),
    /// Something about the parent itself is not done now.
    ParentWaits(String),

    // === the handler ===
    /// It has answered; for a parent of this generation that is being deleted or not.
    Answered {
        /// Whether with an error, or not at all.
        has_failed: bool,
        /// The generation, -1 for a type that has none.
        generation: i64,
        /// Whether the parent is being deleted.
        is_deleting: bool,
    },
    /// It wants to be called again after this time.
    Resync(Duration),
    /// A whole step failed.
    Failed(Failure),

    // === the plan ===
    /// There is a plan.
    Planned(Planned),
    /// It is known which children take their time to go.
    TerminatingChildren {
        /// Since when they do.
        terminating: TerminatingChildren,
        /// How many of those that are desired are to be there again soon.
        expected: usize,
    },
    /// Its deletions were judged.
    Judged {
        /// What the next judgement needs to know.
        deletion_guard: DeletionGuard,
        /// Those that are held, with the sentence about them.
        held: Option<(HeldDeletions, Vec<ChildId>, String)>,
    },
    /// Nothing more is written or deleted.
    WritesEnded {
        /// How many children there were when the plan was made.
        existing: usize,
        /// The types of which not all is known.
        unknown: BTreeSet<K8sType>,
    },

    /// Nothing was written or deleted because of a pause. There were so many children.
    WritesHeld(usize),

    // === children ===
    /// A second look has found a child up to date.
    UpToDate(ChildId),
    /// A dry run has shown that a child is as an apply would leave it.
    Explained(Settled),
    /// A dry run has shown that a child is really not as it is desired.
    Differs(Settled),
    /// A child is not written or deleted now.
    Waits {
        /// The child.
        child: ChildId,
        /// Why.
        why: Wait,
        /// Whether it is desired, and may be missing.
        is_put_off: bool,
    },
    /// The server accepted a write.
    Written(Written),
    /// The server accepted a write and found nothing to change.
    WroteNothing {
        /// Where the child was thought to differ.
        paths: Vec<String>,
        /// What the server answered.
        settled: Settled,
    },
    /// A deletion may have been carried out: it was not answered.
    MayBeDeleted {
        /// The child.
        child: ChildId,
        /// Whether it was not to come back.
        is_final: bool,
    },
    /// A request failed: about a child, or about something else.
    RequestFailed {
        /// The child.
        child: Option<ChildId>,
        /// Why.
        failure: RequestFailure,
    },
    /// Somebody else's object has the name of a child.
    Foreign(ForeignChild),
    /// What was in the way of a child is not known to be any more.
    FoundWay(ChildId),
    /// An object is left alone of which no watch shows what becomes of it.
    Unwatched,
    /// Others hold fields of a child, or the object that has its name.
    ConflictFound(ChildId),
    /// These are left to them.
    Contested(Contested),

    // === drift ===
    /// A child that seemed to be gone is there: somebody has changed it so that it left our sight.
    Drifted {
        /// The child.
        child: ChildId,
        /// Where it differs.
        paths: Vec<String>,
        /// Its version.
        to: ResourceVersion,
        /// Who changed it, as far as the cache knows.
        changed_by: Option<String>,
    },
    /// It was found out who else writes something.
    RivalFound {
        /// What.
        subject: Subject,
        /// Why it is written again.
        why: FlappingReason,
        /// Who.
        rival: Option<String>,
    },
    /// Something was written again.
    Repeated(Repeat),
    /// The finalizers were changed.
    FinalizersChanged,
    /// A change of them waits, as they were changed too often: so often.
    FinalizersRest(u32),
    /// What is owed for what was written too often: at once, or when what was recreated is back.
    Slowed {
        /// Now.
        now: Option<u32>,
        /// When it is back.
        owed: Option<u32>,
    },
    /// No child is written any more before the parent changes.
    ChildrenRest,
    /// Something has become too often: reason and sentence.
    Flapping(FlappingReason, String),

    // === the status ===
    /// It says what it should. `written` is the version at which our own write left the parent.
    StatusSaid {
        /// What it says, as a number.
        wish: Option<u64>,
        /// The version.
        parent: Option<ResourceVersion>,
    },
    /// A change of it was sent, and the server kept something of it or nothing.
    StatusSent {
        /// The change, as a number.
        change: u64,
        /// Whether something was kept.
        is_kept: bool,
    },
    /// It was written.
    StatusWritten,
    /// It is still to be written.
    StatusDue,
    /// It could not be written.
    StatusFailed(RequestFailure),
    /// A failed reconcile cannot say all that it has to.
    StatusRefused {
        /// Whether it shows the conditions at least.
        shows_conditions: bool,
        /// Why.
        failure: RequestFailure,
    },
    /// It is time to say what came of the reconcile.
    StatusBegan,
    /// What the type of the parent does not declare is not in it.
    Undeclared(Vec<UndeclaredField>),
    /// The handler returned what is the framework's: in words.
    Overruled(&'static str),
}

/// A plan, as far as it is not carried out step by step.
#[derive(Debug)]
pub struct Planned {
    /// How many children are up to date.
    pub up_to_date: usize,
    /// The children that are desired and on their way out.
    pub replacing: Vec<Uid>,
    /// What the plan says of each child, where that is asked for.
    pub children: Option<Vec<(ChildId, Plan)>>,
    /// The children that are desired, where that is asked for.
    pub desired: Option<BTreeSet<ChildId>>,
}

/// What a plan says of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// It is up to date.
    UpToDate,
    /// It is to be written.
    Wanted,
    /// It is not wanted.
    Undesired,
}

/// A write of a child that the server accepted.
#[derive(Debug)]
pub struct Written {
    /// The child.
    pub child: ChildId,
    /// What was done.
    pub verb: Verb,
    /// The JSON paths that differed.
    pub paths: Vec<String>,
    /// Why it was written again, if it was.
    pub rewrite: Option<Rewrite>,
    /// How it was left.
    pub left: Left,
}

/// How a write left a child.
#[derive(Debug)]
pub enum Left {
    /// Applied.
    As(Settled),
    /// Deleted, and not to come back.
    Gone,
    /// Deleted, so that another one comes.
    ToRecreate {
        /// What was desired, if the child had to go for a field that cannot change.
        immutable: Option<u64>,
    },
}

/// Something that was written again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// What.
    pub subject: Subject,
    /// Why.
    pub why: FlappingReason,
    /// Where.
    pub paths: Vec<String>,
    /// Who had changed it, as far as the cache knows.
    pub changed_by: Option<String>,
    /// How often that was too often.
    pub times: u32,
}

impl Written {
    /// Whether somebody else had changed it.
    pub fn is_drift(&self) -> bool {
        self.rewrite.as_ref().is_some_and(|rewrite| rewrite.why == RewriteReason::Drift)
    }
}
