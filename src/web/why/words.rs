//! The words for each kind of failure, and for each reason to run again.

use crate::{board::ParentPhase, history::FailureKind, plan::FlappingReason, schedule::WakeReason};

/// What the message does not say itself.
pub(super) fn what_failed(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::HandlerFailed => "the handler returned an error: ",
        FailureKind::InvalidChildren => "the handler wants children that cannot be written: ",
        FailureKind::Conflict => "somebody else's object is in the way: ",
        FailureKind::WriteFailed => "a request to the API server failed: ",
        FailureKind::ChildTypeUnavailable
        | FailureKind::HandlerPanicked
        | FailureKind::HandlerTimeout
        | FailureKind::InternalError => "",
    }
}

/// What a person can do about it.
pub(super) fn advice(kind: FailureKind, phase: ParentPhase) -> &'static str {
    match kind {
        FailureKind::HandlerFailed if phase == ParentPhase::Stalled => {
            "Change what the error names, above all in the spec of the parent."
        }
        FailureKind::ChildTypeUnavailable => {
            "Grant the permission, or install the type: the operator starts by itself then."
        }
        FailureKind::HandlerFailed => "Change what the error names, unless it passes by itself.",
        FailureKind::HandlerPanicked | FailureKind::HandlerTimeout => {
            "That is a defect of the handler: its children stay as they are meanwhile."
        }
        FailureKind::InvalidChildren => {
            "Change the parent, or the handler: no child was written or deleted."
        }
        // What failed says already what can be done.
        FailureKind::Conflict => "Do one of these; nothing is written to that object meanwhile.",
        FailureKind::WriteFailed => "Mend what the server says; nothing is deleted before it is.",
        FailureKind::InternalError => "Report it with what the program printed.",
    }
}

/// What a person can do about what is written again and again.
pub(super) fn end_of(why: FlappingReason) -> &'static str {
    match why {
        FlappingReason::FightingOverFields => {
            "Stop who does that, or leave it to them: let the handler not return it, or the child \
             type be `with_conflicts(ConflictPolicy::Yield)`."
        }
        FlappingReason::FightingOverFinalizer => {
            "Stop who does that: the finalizer is the operator's."
        }
        FlappingReason::FightingOverStatus => {
            "Stop who does that, or let the status be one that is shared (`sharing_status`)."
        }
        FlappingReason::UnstableHandler => {
            "Mend the handler: the same request must get the same answer, and a clock is no part \
             of it."
        }
    }
}

/// What a timer is for, as the end of a sentence that says when a parent runs again.
pub(in crate::web) fn purpose(why: WakeReason) -> &'static str {
    match why {
        WakeReason::Resync => "because the handler asked for it",
        WakeReason::Retry => "to try again",
        WakeReason::Throttled => "when the API server allows it",
        WakeReason::Recheck => "to look whether what it waits for has happened",
        WakeReason::Unsettled => "because its children had to be written run after run",
        WakeReason::Slowed => "because what keeps changing is written ever more slowly",
        WakeReason::Calming => "to see whether the fight over its children has ended",
        WakeReason::Debounce => "when the changes that are being collected have ended",
    }
}

/// A time from now.
pub(super) fn within(seconds: u64) -> String {
    match seconds {
        0 => "at once".to_owned(),
        1..120 => format!("in {seconds} s"),
        120..7200 => format!("in {} min", seconds / 60),
        _ => format!("in {} h", seconds / 3600),
    }
}
