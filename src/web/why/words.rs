//! The texts for each kind of failure, and for each reason of the next reconcile.

use crate::{board::ParentPhase, history::FailureKind, plan::FlappingReason, schedule::WakeReason};

pub(super) fn what_failed(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::HandlerFailed => "the handler returned an error: ",
        FailureKind::InvalidChildren => "the handler returned children that cannot be written: ",
        FailureKind::Conflict => "an object already exists and is not owned: ",
        FailureKind::WriteFailed => "a request to the API server failed: ",
        FailureKind::StageTimeout => "children wait longer than the handler allows: ",
        FailureKind::ChildTypeUnavailable
        | FailureKind::RelatedUnavailable
        | FailureKind::InvalidRelated
        | FailureKind::HandlerPanicked
        | FailureKind::HandlerTimeout
        | FailureKind::RolloutStopped
        | FailureKind::InternalError => "",
    }
}

pub(super) fn advice(kind: FailureKind, phase: ParentPhase) -> &'static str {
    match kind {
        FailureKind::HandlerFailed if phase == ParentPhase::Stalled => {
            "Fix the cause of the error, usually in the spec of the parent."
        }
        FailureKind::ChildTypeUnavailable => {
            "Grant the permission or install the type. The operator then starts without a restart."
        }
        FailureKind::RelatedUnavailable => {
            "Grant the permission or install the type. The parent is then reconciled by itself."
        }
        FailureKind::InvalidRelated => {
            "Change the handler or the configuration of its operator, or the parent."
        }
        FailureKind::HandlerFailed => "Fix the cause of the error, unless it is temporary.",
        FailureKind::HandlerPanicked | FailureKind::HandlerTimeout => {
            "This is a bug in the handler. Its children are not modified meanwhile."
        }
        FailureKind::InvalidChildren => {
            "Change the parent or the handler. No child was written or deleted."
        }
        // The message contains the options.
        FailureKind::Conflict => "Do one of these. That object is not modified meanwhile.",
        FailureKind::WriteFailed => "Fix the reported error. Nothing is deleted until then.",
        FailureKind::RolloutStopped => {
            "Fix the child that is named, or change the parent. The other children stay as they are."
        }
        FailureKind::StageTimeout => {
            "Fix the child that is named. The children after it are written as soon as it is ready."
        }
        FailureKind::InternalError => "Report it with the output of the program.",
    }
}

/// What the user can do about flapping.
pub(super) fn end_of(why: FlappingReason) -> &'static str {
    match why {
        FlappingReason::FightingOverFields => {
            "Stop the other field manager, or leave the fields to it: remove them from the handler's \
             response, or set `with_conflicts(ConflictPolicy::Yield)` for the child type."
        }
        FlappingReason::FightingOverFinalizer => {
            "Stop the other field manager: the finalizer belongs to the operator."
        }
        FlappingReason::FightingOverStatus => {
            "Stop the other field manager, or share the status with it (`sharing_status`)."
        }
        FlappingReason::UnstableHandler => {
            "Fix the handler: it must return the same response for the same request, and must not \
             read a clock."
        }
    }
}

/// The reason of the next reconcile, as the end of a sentence.
pub(in crate::web) fn purpose(why: WakeReason) -> &'static str {
    match why {
        WakeReason::Resync => "because the handler requested it",
        WakeReason::Retry => "to retry",
        WakeReason::Throttled => "when the API server allows it",
        WakeReason::Recheck => "to check what it waits for",
        WakeReason::Unsettled => "because each reconcile had to write its children",
        WakeReason::Slowed => "because flapping writes are delayed",
        WakeReason::Calming => "to check whether the flapping has ended",
        WakeReason::PauseEnds => "because its pause ends",
        WakeReason::Debounce => "when the debounce interval has ended",
        WakeReason::Spread => {
            "because of a related object that many parents read, one parent after the other"
        }
    }
}

pub(super) fn within(seconds: u64) -> String {
    match seconds {
        0 => "at once".to_owned(),
        1..120 => format!("in {seconds} s"),
        120..7200 => format!("in {} min", seconds / 60),
        _ => format!("in {} h", seconds / 3600),
    }
}
